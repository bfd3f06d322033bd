#!/usr/bin/env bash
# Run the script checker over every shell script.
set -u
cd "$(dirname "$0")/../.." || exit 1
mapfile -t files < <(git ls-files -co --exclude-standard '*.sh' .ci/run pipeline/talus-mpirun)
shellcheck -S warning "${files[@]}"
