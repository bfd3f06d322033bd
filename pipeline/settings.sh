#!/usr/bin/env bash
# What a stage of a chain is made with, kept beside its products:
#   settings.sh changed FILE [NAME=TEXT | -f NAME=INPUT]...    print "changed" if FILE does not say the same
#   settings.sh write FILE [NAME=TEXT | -f NAME=INPUT]...      write FILE, and on standard error what differs from before
# FILE gets a line for each NAME. After -f the text is a file's name, a folder or a pattern for slices, and the line has
# the full name with size and time of last change, so that another file under the same name, or an older one, differs.
set -u
mode=$1 file=$2
shift 2

# Sizes and times of an input's files.
input() { # NAME
  local files=("$1") shown
  shown=$(realpath -m -- "$1")
  if [ -d "$1" ]; then
    mapfile -d '' files < <(find -L "$1" -maxdepth 1 -type f -print0 | LC_ALL=C sort -z)
  elif [ ! -e "$1" ]; then # s_*.tif, s_%04d.tif
    mapfile -t files < <(compgen -G "$(sed 's/%[0-9]*[diu]/*/' <<<"$1")" | LC_ALL=C sort)
  fi
  case ${#files[@]} in
    0) echo "$shown, not there" ;;
    1) echo "$shown, $(stat -L -c '%s bytes, changed %y' -- "${files[0]}")" ;;
    *) echo "$shown, ${#files[@]} files, checksum of their names, sizes and times $(stat -L -c '%n %s %y' -- "${files[@]}" | cksum)" ;;
  esac
}

lines=()
while [ $# -gt 0 ]; do
  if [ "$1" = -f ]; then
    shift
    lines+=("${1%%=*}=$(input "${1#*=}")")
  else
    lines+=("$1")
  fi
  shift
done
text=$(printf '%s\n' "${lines[@]}")
before=$(cat "$file" 2>/dev/null)
if [ "$mode" = changed ]; then
  [ -e "$file" ] && [ "$text" = "$before" ] || echo changed
  exit
fi
if [ -e "$file" ] && [ "$text" != "$before" ]; then
  name=${file##*/}
  echo "== ${name%.txt} and what follows it are made again, since settings differ from those before:" >&2
  diff <(echo "$before") <(echo "$text") | sed -n 's/^< /   before: /p; s/^> /   now:    /p' >&2
fi
mkdir -p "$(dirname "$file")" && printf '%s\n' "$text" >"$file.tmp" && mv "$file.tmp" "$file"
