#!/usr/bin/env bash
# How long a chain will take, stage by stage, and the sum of what can be known beforehand:
#   forecast.sh HERE OUT MAKE...
# HERE is the folder of the scripts as the makefiles name it.
# MAKE is the command that makes the chain, with -n: what it prints is what would be done, and what it leaves out is
# done already and stands in OUT/stages.csv with its cost. A stage that would be done is tried out by its tool's
# --dry-run, where its inputs are there; stages that work voxel by voxel by that of the stack, which has the size of
# all that is made from it. A phantom, which takes seconds, is made in a temporary folder, where the stages after it
# find it. What has no --dry-run, or wants what is not there yet, has the time that it took before in this OUT, or
# none: the sum names what is not in it. Nothing is written. Exit status 1 where a tool refuses what it is asked.
set -u -o pipefail
here=$1 out=$2
shift 2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

"$@" >"$work/lines" 2>"$work/said" || { cat "$work/said" >&2; exit 2; }
# recipes go over several lines; those of stages name stage.sh
sed -e ':a' -e '/\\$/{N;s/\\\n//;ba' -e '}' "$work/lines" | grep -F 'stage.sh' >"$work/stages"

stack=        # the scan, in place of what is made from it
declare -A made # files that are not there yet, and where they lie for the forecast
bad=0
: >"$work/table" # stage, state, wall time, MB, from; parted by tabs

put() { # NAME STATE SECONDS MB FROM
  printf '%s\t%s\t%s\t%s\t%s\n' "$@" >>"$work/table"
}

# The last time that a stage took in a ledger: "WALL MB", or nothing.
took() { # LEDGER STAGE
  [ ! -e "$1" ] || awk -F, -v name="$2" '$1 == name && $5 == 0 {line = $2 " " $4} END {if (line) print line}' "$1"
}

# Seconds and MB of a --dry-run; the words say how the tool knows.
ask() { # NAME FROM COMMAND...
  local name=$1 from=$2 found
  shift 2
  if ! "$@" --dry-run -q >"$work/plan" 2>"$work/said" </dev/null; then
    grep '^talus-' "$work/said" >&3 || cat "$work/said" >&3 # without what mpirun has to say of it
    put "$name" refused '' '' 'refused by the tool, see above'
    bad=1
    return
  fi
  found=$(awk '$1 ~ /^time_(about|one_core_about|at_this_pace|at_least):$/ {s = $2; how = $1}
    $1 ~ /^memory(_estimate|_at_least)?:$/ {m = $3 == "MB" ? $2 : $3 == "GB" ? 1000 * $2 : 1e-6 * $2}
    END {printf "%s %s %s", s == "" ? "?" : s, m == "" ? "?" : m, how}' "$work/plan")
  set -- $found
  case ${3:-} in
    time_one_core_about:) from="$from, on one core" ;;
    time_at_least:) from="$from: at least, at the pace of its first steps, in which few grains touch" ;;
    time_at_this_pace:) from="$from: pace of its first steps; those in which more grains touch take longer" ;;
  esac
  put "$name" 'to do' "$1" "$2" "$from"
}

# A stage that makes its data from nothing is run, into the temporary folder.
make_it() { # NAME talus-phantom ARGUMENT...
  local name=$1 words=() word file before='' cost
  shift
  mkdir -p "$work/made"
  for word in "$@"; do
    file=
    if [ "$before" = -o ]; then file=$word; fi
    case $word in --output=* | --truth=* | --labels=*) file=${word#*=} ;; esac
    before=$word
    if [ -n "$file" ]; then
      made[$file]=$work/made/${file##*/}
      word=${word%"$file"}${made[$file]}
    fi
    words+=("$word")
  done
  if ! /usr/bin/time -q -o "$work/cost" -f '%e %M' "${words[@]}" -q >"$work/plan" 2>"$work/said" </dev/null; then
    cat "$work/said" >&3
    put "$name" refused '' '' 'refused by the tool, see above'
    bad=1
    return
  fi
  read -r cost <"$work/cost"
  put "$name" 'to do' "${cost% *}" "$((${cost#* } / 1024))" 'tried in a temporary folder'
}

forecast() { # STAGE LEDGER COMMAND..., in place of stage.sh
  local stage=$1 ledger=$2 name=$1 before tool missing='' wanted=() word folder
  shift 2
  folder=${ledger%/stages.csv}
  [ "$folder" = "$out" ] || name=${folder#"$out"/}/$stage
  printf '%s\t%s\n' "$ledger" "$stage" >>"$work/asked"
  before=$(took "$ledger" "$stage")
  tool=${1##*/}
  if [ -n "$lacking" ]; then
    missing=$lacking
  elif [ "$tool" = solve.sh ]; then
    local run=$2 solver=()
    shift 2
    while [ "$1" != -- ]; do wanted+=("$1"); shift; done
    shift
    while [ "$1" != -- ]; do solver+=("$1"); shift; done
    shift
    for word in "$@"; do case $word in --catalog=*) wanted+=("${word#*=}") ;; esac; done
    for word in "${wanted[@]}"; do [ -e "$word" ] || missing=${missing:-$word}; done
    if [ -z "$missing" ]; then
      set -- "${solver[@]}" "$@" -o "$run" --overwrite
      ask "$name" '--dry-run' "$@"
      return
    fi
  elif [ "$tool" = talus-phantom ]; then
    make_it "$name" "$@"
    return
  elif [ "$tool" = talus-denoise ] || [ "$tool" = talus-topo ]; then
    [ -z "${made[$2]:-}" ] || set -- "$1" "${made[$2]}" "${@:3}"
    if [ -e "$2" ] || [[ $2 == *[*?[%]* ]]; then
      [ "$tool" = talus-topo ] || stack=$2
      ask "$name" '--dry-run' "$@"
      return
    fi
    missing=$2
  elif [ "$tool" = talus-binarize ] || [ "$tool" = talus-label ]; then
    # inputs that are not there have the stack's size
    local words=() from='--dry-run'
    for word in "$@"; do
      case $word in
        --grey=*) [ -e "${word#*=}" ] || { missing=${word#*=}; word=--grey=$stack; } ;;
        "$2") [ -e "$word" ] || { missing=$word; word=$stack; } ;;
      esac
      words+=("$word")
    done
    if [ -z "$missing" ] || [ -n "$stack" ]; then
      [ -z "$missing" ] || from='--dry-run by the size of the stack'
      ask "$name" "$from" "${words[@]}"
      return
    fi
  elif [ "$tool" = talus-avatars ]; then
    [ -e "$2" ] || missing=$2
    for word in "$@"; do
      case $word in --grey=* | --raw=*) [ -e "${word#*=}" ] || missing=${missing:-${word#*=}} ;; esac
    done
    if [ -z "$missing" ]; then
      ask "$name" '--dry-run' "$@"
      return
    fi
  fi
  if [ -n "$before" ]; then
    set -- $before
    put "$name" 'to do' "$1" "$2" 'what it took before here'
  elif [ "$tool" = talus-avatars ] && [ ! -e "$2" ]; then
    put "$name" 'to do' '?' '?' "not known before ${missing##*/}, for the grains are not counted: 1.4 s each on one core where 55 voxels wide"
  elif [ -n "$missing" ]; then
    put "$name" 'to do' '?' '?' "not known before ${missing##*/} is there"
  else
    put "$name" 'to do' '?' '?' "$tool has no forecast"
  fi
}

: >"$work/asked"
program="'$here/stage.sh'" # as the makefiles write it, in whose words everything is quoted for the shell
while IFS= read -r line; do
  plan=${line/"$program"/forecast}
  if [ "$plan" = "$line" ]; then
    echo "forecast.sh: cannot read this stage of the chain: $line" >&2
    exit 2
  fi
  # files of the chain that the shell reads for an argument, $(sed ... FILE)
  lacking=
  for word in $(grep -o '\$(.*)' <<<"$line" | tr "()'\"" '    '); do
    case $word in "$out"/*) [ -e "$word" ] || lacking=${lacking:-$word} ;; esac
  done
  eval "$plan" 3>&2 2>/dev/null
done <"$work/stages"

# what is done: in the ledgers, and not asked for
{ find "$out" -name stages.csv 2>/dev/null; cut -f 1 "$work/asked"; } | sort -u | while IFS= read -r ledger; do
  [ -e "$ledger" ] || continue
  folder=${ledger%/stages.csv}
  awk -F, -v prefix="$([ "$folder" = "$out" ] || echo "${folder#"$out"/}/")" -v ledger="$ledger" '
    FILENAME == ARGV[1] {split($0, f, "\t"); if (f[1] == ledger) asked[f[2]] = 1; next}
    FNR > 1 && $5 == 0 {if (!($1 in wall)) order[++n] = $1; wall[$1] = $2; mb[$1] = $4}
    END {for (i = 1; i <= n; i++) if (!(order[i] in asked))
      printf "%s%s\tdone\t%s\t%s\twhat it took\n", prefix, order[i], wall[order[i]], mb[order[i]]}' "$work/asked" "$ledger"
done >"$work/done"

cat "$work/done" "$work/table" | awk -F'\t' '
  function shown(s) {return s == "" ? "-" : s == "?" ? "?" : sprintf("%.1f", s)}
  function clock(s) {return s < 10 ? sprintf("%.1f s", s) : s < 100 ? sprintf("%.0f s", s) : s < 6000 ? sprintf("%.0f min", s / 60) : sprintf("%.1f h", s / 3600)}
  BEGIN {printf "%-18s %-7s %8s %9s  %s\n", "stage", "", "wall s", "peak MB", "known from"}
  {printf "%-18s %-7s %8s %9s  %s\n", $1, $2, shown($3), shown($4), $5
   if ($4 != "?" && $4 + 0 > most) most = $4
   if ($2 == "done") {spent += $3; over++}
   else {left++; if ($3 == "?" || $3 == "") not_known = not_known (not_known ? ", " : "") $1; else {sum += $3; known++}
     if ($5 ~ /first steps/) least = 1}}
  END {
    if (over) printf "\ndone already: %d stages, which took %s\n", over, clock(spent)
    if (!left) {print "nothing is left to do"; exit}
    if (known) printf "%sstill to do, as far as known: %s%s, at most %.0f MB\n", over ? "" : "\n", least || not_known ? "at least " : "about ", clock(sum), most
    if (not_known) printf "not in it: %s. Ask again when what they wait for is there; docs/guide/scans.md has figures to plan by.\n", not_known}'
exit $bad
