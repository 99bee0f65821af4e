#!/usr/bin/env bash
# Runs every test: tests.sh PYTHON. With pytest arguments behind it, runs just what they ask for, in one process.
#
# Most tests wait, for real time to pass on real sockets. So three parts run side by side: whole gateways and demos, with
# the first claim to the processor; what the field says; and all the rest. The second and third are shown once they ended.
set -uom pipefail  # -m: what runs in the background can be interrupted as in the foreground, which some tests try

python=$1
shift
if [ $# -gt 0 ]; then exec "$python" -m pytest "$@"; fi

whole=(tests/whole tests/simulator/test_demo.py tests/simulator/test_simulate.py)
field=(tests/sensors tests/simulator tests/bench)

logs=$(mktemp -d)
pytest=("$python" -m pytest -p no:cacheprovider)
nice -n 5 "${pytest[@]}" "${field[@]}" "${whole[@]/#/--ignore=}" </dev/null >"$logs/field" 2>&1 &
second=$!
nice -n 5 "${pytest[@]}" tests "${whole[@]/#/--ignore=}" "${field[@]/#/--ignore=}" </dev/null >"$logs/rest" 2>&1 &
third=$!
trap 'kill "$second" "$third" 2>/dev/null; rm -rf "$logs"' EXIT
trap 'exit 130' INT TERM

failed=0
"${pytest[@]}" "${whole[@]}" || failed=$?
wait "$second" || failed=$?
cat "$logs/field"
wait "$third" || failed=$?
cat "$logs/rest"
exit "$failed"
