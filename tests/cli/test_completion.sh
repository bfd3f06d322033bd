#!/usr/bin/env bash
# --completion=bash and --completion=zsh of every tool: the scripts are accepted by their shells, and bash completes
# by them options, verbs, choices, keys of a study and their values, and leaves the rest to names of files. 10 seconds.
set -u
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
bad=0
fail() { echo "FAILED: $*"; bad=1; }
tools=$(cd "$BIN" && printf '%s\n' talus-* | grep -v talus-mpirun)

# What bash offers at the end of a line, sorted, on one line. The words of the line are those that bash makes:
# by its rules "=" is a word of its own; without "=" in COMP_WORDBREAKS it is not.
offered() { # tool, words after it
  local tool=$1 function=_${1//-/_}
  COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
  COMPREPLY=()
  "$function" "$tool" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}" || fail "the function of $tool ends with $?"
  [ ${#COMPREPLY[@]} = 0 ] || printf '%s\n' "${COMPREPLY[@]}" | sort | paste -sd' '
}
expect() { # what is offered, tool and words
  local wanted=$1 got; shift
  got=$(offered "$@")
  [ "$got" = "$wanted" ] || fail "'$*' is completed to '$got', not '$wanted'"
}
options_of() { "$BIN/$1" "${@:2}" --help | sed -nE 's/^  (--[a-z0-9-]+=?).*/\1/p'; }

# ---- every tool and verb ----
COMP_WORDBREAKS=$' \t\n"\'@><=;|&(:'
for tool in $tools; do
  for shell in bash zsh; do
    "$BIN/$tool" --completion=$shell >"$dir/$shell.$tool" 2>"$dir/log" || fail "$tool --completion=$shell: $(cat "$dir/log")"
    [ ! -s "$dir/log" ] || fail "$tool --completion=$shell complains: $(cat "$dir/log")"
  done
  bash -n "$dir/bash.$tool" || fail "bash does not accept the script of $tool"
  # shellcheck disable=SC1090
  source "$dir/bash.$tool" || fail "bash cannot source the script of $tool"
  [[ "$(complete -p "$tool")" == *"-o default -F _${tool//-/_} $tool" ]] || fail "bash completes nothing for $tool"
  verbs=$("$BIN/$tool" --help | awk '/^Verbs/ {on = 1; next} !NF {on = 0} on {print $1}')
  [ -z "$verbs" ] || expect "$(sort <<<"$verbs" | paste -sd' ')" "$tool" ''
  for verb in '' $verbs; do
    for option in $(options_of "$tool" $verb); do
      [[ " $(offered "$tool" $verb "${option%=}") " == *" $option "* ]] || fail "bash does not complete '$tool $verb ${option%=}'"
    done
    # a list of words in the help is what its option is completed to
    while IFS='=' read -r option words; do
      expect "$(tr '|' '\n' <<<"$words" | sort | paste -sd' ')" "$tool" $verb "$option" = ''
    done < <("$BIN/$tool" $verb --help | sed -nE 's/^  (--[a-z0-9-]+=[a-z0-9|-]+)( .*)?$/\1/p')
  done
  options=$("$BIN/$tool" --help | grep -cE '^  --[a-z]')
  [ "$options" -ge 7 ] || fail "$tool --help has $options options"
done

# ---- in bash ----
expect '--method=' talus-denoise --meth
expect 'nlm' talus-denoise --method = n
expect 'nlm' talus-denoise --method n
expect '' talus-denoise --method = unknown
expect '--no-progress' talus-denoise scan.tif --no
expect 'auto none' talus-denoise --roi = ''
expect '' talus-denoise --method = nlm scan.tif ''
expect '' talus-denoise -- --meth
expect '' talus-solve study.yaml -o ''
expect '' talus-solve --resume --threads = ''
expect 'grading' talus-catalog gra
expect '' talus-catalog list gra
expect '--format=' talus-catalog export out.tals --form
expect '' talus-catalog list --form
expect 'stl' talus-catalog export --format = st
# keys of a study, their choices and flags; a key of a list has a number and is left out
expect 'time.dt_s=' talus-solve --set time.dt
expect 'solver.method=' talus-solve study.yaml --set = solver.meth
expect 'penalty' talus-solve --set solver.method = pen
expect 'penalty' talus-solve --set = solver.method = pen
expect 'false true' talus-solve --set time.until_rest = ''
expect '' talus-solve --set time.dt_s = ''
expect 'triaxial.membrane.stiffness_N_m=' talus-solve --set triaxial.membrane.stiff
expect 'auto' talus-solve --set nonsmooth.iterations = ''
expect '' talus-solve --set planes
[ "$(offered talus-solve --set '' | wc -w)" -ge 100 ] || fail "few keys of a study: $(offered talus-solve --set '')"
# bash may have been told not to part words at "="; then what stands before the value is repeated
touch "$dir/one file.tif" "$dir/two.tif"
COMP_WORDBREAKS=${COMP_WORDBREAKS/=/}
expect '--method=nlm' talus-denoise --method=n
expect '--set=solver.method=penalty' talus-solve --set=solver.method=pen
expect 'solver.method=penalty' talus-solve --set solver.method=pen
expect "--output=$dir/two.tif" talus-denoise --output="$dir/t"
expect '' talus-denoise --memory=1

# ---- bash at a terminal: words parted by bash itself, and names of files ----
cat >"$dir/type.py" <<'PYTHON'
"""Type a line and a tab into an interactive bash; the line must become what is wanted within 20 s."""
import os
import pty
import select
import sys
import time

folder, script, line, wanted = sys.argv[1:]
child, terminal = pty.fork()
if child == 0:
    os.chdir(folder)
    os.execve("/bin/bash", ["bash", "--norc", "--noprofile", "-i"], {"PATH": "/usr/bin:/bin", "TERM": "dumb", "HOME": folder, "PS1": "> "})
seen = b""


def until(text):
    global seen
    end = time.monotonic() + 20
    while text not in seen and time.monotonic() < end:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                seen += os.read(terminal, 65536)
            except OSError:
                break
    return text in seen


os.write(terminal, f"source {script}; bind 'set page-completions off'; echo rea''dy\n".encode())
good = until(b"ready\r\n")
seen = b""
os.write(terminal, line.encode() + b"\t")
good = good and until(wanted.encode())
os.write(terminal, b"\x03exit\n")
if not good:
    print("bash shows", seen)
sys.exit(not good)
PYTHON
typed() { # wanted, line
  /usr/bin/python3 "$dir/type.py" "$dir" "bash.${2%% *}" "$2" "$1" || fail "at a terminal '$2' does not become '$1'"
}
typed 'talus-denoise --method=gaussian ' 'talus-denoise --method=gau'
typed 'talus-solve --set=solver.method=penalty ' 'talus-solve --set=solver.method=pen'
typed 'talus-denoise --output=two.tif ' 'talus-denoise --output=tw'
typed 'talus-denoise one\ file.tif ' 'talus-denoise on'
typed 'talus-catalog list two.tif ' 'talus-catalog list tw'

# ---- zsh: by zsh itself, or by the form of the text ----
for tool in $tools; do
  script="$dir/zsh.$tool"
  if [ -n "$(command -v zsh)" ]; then
    zsh -n "$script" || fail "zsh does not accept the script of $tool"
  else
    bash -n "$script" || fail "zsh's script of $tool is not closed" # what is used of zsh parses in bash
  fi
  [ "$(head -1 "$script")" = "#compdef $tool" ] || fail "zsh's script of $tool begins with '$(head -1 "$script")'"
  grep -qx "_$tool() {" "$script" || fail "zsh's script of $tool has no function _$tool"
  grep -qx "  compdef _$tool $tool" "$script" || fail "zsh's script of $tool cannot be sourced"
  for option in $(options_of "$tool"); do
    grep -qE "^ +'[(a-z@)*-]*${option}\[" "$script" || fail "zsh's script of $tool has no $option"
  done
done
[ -n "$(command -v zsh)" ] || echo "zsh is not installed: its scripts are looked at, not run"
grep -qF -- '--method=[' "$dir/zsh.talus-denoise" && grep -qF ':(nlm gaussian median bilateral diffusion)' "$dir/zsh.talus-denoise" ||
  fail "zsh's script of talus-denoise has no methods"
grep -qE "^ +'\*--set=\[.*:_talus-solve_keys'" "$dir/zsh.talus-solve" || fail "zsh completes no keys of a study"
grep -qE "^ +'time.dt_s=:" "$dir/zsh.talus-solve" || fail "zsh has no key time.dt_s"
grep -qE '^ +\(solver.method=\) compadd -- .*penalty' "$dir/zsh.talus-solve" || fail "zsh has no choices of solver.method"
grep -qE "^ +'list:List " "$dir/zsh.talus-catalog" || fail "zsh has no verbs of talus-catalog"

# ---- wrong usage ----
wrong() { # what is said, tool and options
  local says=$1 code=0; shift
  "$BIN/$1" "${@:2}" >"$dir/out" 2>"$dir/err" || code=$?
  [ "$code" = 2 ] && [ ! -s "$dir/out" ] && grep -qF -- "$says" "$dir/err" || fail "$*: exit $code, $(cat "$dir/err")"
}
wrong "talus-denoise: --completion: 'fish' is not one of bash|zsh" talus-denoise --completion=fish
wrong '--completion wants a value: --completion=bash|zsh' talus-catalog --completion
wrong '--completion: no such option' talus-catalog list --completion=bash
if "$BIN/talus-solve" --completion=bash >/dev/full 2>"$dir/err"; then fail "a script that does not arrive ends with 0"; fi
exit $bad
