#!/usr/bin/env bash
# The example of docs/guide/library.md, word for word, compiled by the commands printed there against an installed
# copy, in a folder where nothing of the source is: it prints what the page says, which is the closed form of a
# fall. And a program that does everything wrong that the header speaks of gets codes and messages. 15 seconds.
set -u
here=$PWD
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
bad=0
fail() { echo "FAILED: $*"; bad=1; }
unset MAKEFLAGS MFLAGS
# The library is taken as it is: this make does not know the flags that it was built with.
bin=${BIN#"$here"/}; tools=talus-volume
make -s -C "$here" -o tools -o "${bin%/bin}/lib/libtalus.a" -o "$bin/talus-volume" \
  BIN="$bin" TOOLS="$tools" PREFIX="$dir/talus" install >"$dir/log" 2>&1 || { fail "install: $(cat "$dir/log")"; exit 1; }
export PKG_CONFIG_PATH="$dir/talus/lib/pkgconfig" OMP_NUM_THREADS=1
mkdir "$dir/work"; cd "$dir/work" || exit 1

/usr/bin/python3 - "$here/docs/guide/library.md" <<'PYTHON' || bad=1
import re
import subprocess
import sys

text = open(sys.argv[1], encoding="utf-8").read()
blocks = re.findall(r"^```(\w+)\n(.*?)^```$", text, re.M | re.S)
program, commands, printed = (next(b for k, b in blocks if k == kind) for kind in ("c", "sh", "text"))
if program.count("\n") > 55:
    sys.exit("FAILED: the example has grown to %d lines" % program.count("\n"))
open("throw.c", "w", encoding="utf-8").write(program)
done = subprocess.run(["bash", "-eu", "-c", commands], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
if done.returncode or done.stdout != printed:
    sys.exit(f"FAILED: exit status {done.returncode}, printed\n{done.stdout}in place of\n{printed}")
g, dt, n = 9.81, 1e-3, 500
for speed, line in enumerate(printed.splitlines(), 1):
    t, x, z, v = map(float, re.findall(r"-?[0-9.]+", line))
    want = (n * dt, speed * n * dt, 10 - g * dt * dt * n * (n + 1) / 2, g * n * dt)
    if max(abs(a - b) for a, b in zip((t, x, z, v), want)) > 1e-6:
        sys.exit(f"FAILED: {line} is not {want}")
PYTHON

cat >wrong.c <<'C'
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <talus.h>
static int bad;
static void refused(TalusStatus status, TalusStatus want, const char *words) {
  if (status == want && strstr(talus_message(), words)) return;
  printf("FAILED: status %d, not %d: %s\n", (int)status, (int)want, talus_message());
  bad = 1;
}
int main(void) {
  static const char ball[] = "shapes: [{name: b, diameter_m: 0.1}]\nbodies: [{shape: b, position_m: [0, 0, 1]}]\n"
                             "free_fall: yes\ntime: {dt_s: 1.0e-3, duration_s: 1}\n";
  const char *wrong[] = {"time.dt_s=banana"}, *right[] = {"time.dt_s=2.0e-3"};
  const double nowhere[3] = {0, NAN, 0}, none[4] = {0, 0, 0, 0};
  TalusModel *model = NULL, *other = NULL;
  TalusState *state, *copy;
  TalusWorkspace *workspace;
  refused(talus_model_open(&model, "nowhere.yaml", NULL, 0), TALUS_IO, "nowhere.yaml");
  refused(talus_model_open_text(&model, "mine", "time: 3\n", NULL, 0), TALUS_INPUT, "mine:1");
  refused(talus_model_open_text(&model, "mine", ball, wrong, 1), TALUS_USAGE, "banana");
  if (model) return 1;
  if (talus_model_open_text(&model, "mine", ball, right, 1) || talus_model_open_text(&other, "its", ball, NULL, 0) ||
      talus_state_new(&state, model) || talus_workspace_new(&workspace, other))
    return printf("FAILED: %s\n", talus_message()), 1;
  if (talus_model_step_s(model) != 2e-3) return printf("FAILED: the override is not there\n"), 1;
  refused(talus_step(state, workspace, 1), TALUS_USAGE, "different models");
  refused(talus_state_set_body(state, 7, NULL, NULL, NULL, NULL), TALUS_USAGE, "id 7");
  refused(talus_state_set_body(state, 0, nowhere, NULL, NULL, NULL), TALUS_USAGE, "finite");
  refused(talus_state_set_body(state, 0, NULL, none, NULL, NULL), TALUS_USAGE, "rotation");
  if (talus_state_clone(&copy, state)) return 1;
  uint64_t one, two;
  if (talus_state_hash(state, &one) || talus_state_hash(copy, &two) || one != two) printf("FAILED: a clone differs\n"), bad = 1;
  talus_state_free(copy), talus_state_free(state), talus_workspace_free(workspace);
  talus_model_free(model), talus_model_free(other), talus_model_free(NULL);
  return bad;
}
C
read -ra flags <<<"$(pkg-config --cflags --libs talus)"
cc -Wall -Wextra -Werror wrong.c "${flags[@]}" -o wrong && ./wrong || fail "what is wrong: see above"
printf '#include <talus.h>\nint main() { return talus_version()[0] == 0; }\n' >plus.cpp
c++ plus.cpp "${flags[@]}" -o plus && ./plus || fail "from C++"
make -s -C "$here" PREFIX="$dir/talus" uninstall >"$dir/log" 2>&1 || fail "uninstall: $(cat "$dir/log")"
[ -z "$(find "$dir/talus" -type f)" ] || fail "left: $(find "$dir/talus" -type f)"
exit $bad
