#!/usr/bin/env bash
# Runs every test: tests.sh PYTHON. With pytest arguments behind it, runs just what they ask for, in one process.
#
# Most tests wait, for real time to pass on real sockets. So three parts of about one length run side by side: whole gateways;
# what the field says, then the simulator, then its demos; and all the rest. Those that measure time in milliseconds have the
# first claim to the processor. The second and third part are shown once they ended.
set -uom pipefail  # -m: what runs in the background can be interrupted as in the foreground, which some tests try

python=$1
shift
if [ $# -gt 0 ]; then exec "$python" -m pytest "$@"; fi

pytest=("$python" -m pytest -p no:cacheprovider)
logs=$(mktemp -d)
demos=(tests/simulator/test_demo.py tests/simulator/test_simulate.py)

{
  failed=0
  "${pytest[@]}" tests/sensors || failed=$?
  nice -n 5 "${pytest[@]}" tests/simulator tests/bench "${demos[@]/#/--ignore=}" || failed=$?
  "${pytest[@]}" "${demos[@]}" || failed=$?
  exit "$failed"
} </dev/null >"$logs/field" 2>&1 &
field=$!
nice -n 5 "${pytest[@]}" tests --ignore=tests/whole --ignore=tests/sensors --ignore=tests/simulator --ignore=tests/bench \
  </dev/null >"$logs/rest" 2>&1 &
rest=$!
trap 'kill -- "-$field" "-$rest" 2>/dev/null; rm -rf "$logs"' EXIT
trap 'exit 130' INT TERM

failed=0
"${pytest[@]}" tests/whole || failed=$?
wait "$field" || failed=$?
cat "$logs/field"
wait "$rest" || failed=$?
cat "$logs/rest"
exit "$failed"
