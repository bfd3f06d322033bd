#!/usr/bin/env bash
# A small part of make check-survive: two kills in each scene, and a run of 20,000 steps.
# alone: several ranks wait for each other, and kills come when a part of the run's usual time is over
set -eu
KILLS=2 STEPS=20000 exec tests/survive/run.sh
