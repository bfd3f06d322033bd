#!/usr/bin/env bash
# Run the script checker over every shell script, and compile every Python file.
set -u
cd "$(dirname "$0")/../.." || exit 1
mapfile -t files < <(git ls-files -co --exclude-standard '*.sh' .ci/run pipeline/talus-mpirun)
status=0
shellcheck -S warning "${files[@]}" || status=1
mapfile -t files < <(git ls-files -co --exclude-standard '*.py')
/usr/bin/python3 - "${files[@]}" <<'PYTHON' || status=1
import sys
import warnings

warnings.simplefilter("error")  # such as an escape that means nothing
bad = False
for name in sys.argv[1:]:
    with open(name, encoding="utf-8") as file:
        text = file.read()
    try:
        compile(text, name, "exec")
    except (SyntaxError, SyntaxWarning) as error:
        print(f"lint: {name}: {error}", file=sys.stderr)
        bad = True
    for number, line in enumerate(text.splitlines(), start=1):
        if "\t" in line or line.endswith(" "):
            print(f"lint: {name}:{number}: a tab or a trailing blank", file=sys.stderr)
            bad = True
sys.exit(bad)
PYTHON
exit $status
