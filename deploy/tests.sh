#!/usr/bin/env bash
# Runs every test: tests.sh PYTHON. With pytest arguments behind it, runs just what they ask for, in one process.
#
# Most tests wait, for real time to pass on real sockets. So three parts run side by side: whole gateways and demos, with
# the first claim to the processor; what the field says; and all the rest. The second and third are shown once they ended.
set -uo pipefail

python=$1
shift
if [ $# -gt 0 ]; then exec "$python" -m pytest "$@"; fi

whole=(tests/whole tests/simulator/test_demo.py tests/simulator/test_simulate.py)
field=(tests/sensors tests/simulator tests/bench)

part() { "$@" -m pytest -p no:cacheprovider "${paths[@]}"; }

logs=$(mktemp -d)
paths=("${field[@]}" "${whole[@]/#/--ignore=}")
part nice -n 5 "$python" >"$logs/field" 2>&1 &
second=$!
paths=(tests "${whole[@]/#/--ignore=}" "${field[@]/#/--ignore=}")
part nice -n 5 "$python" >"$logs/rest" 2>&1 &
third=$!
trap 'kill "$second" "$third" 2>/dev/null; rm -rf "$logs"' EXIT
trap 'exit 130' INT TERM

failed=0
paths=("${whole[@]}")
part "$python" || failed=$?
wait "$second" || failed=$?
cat "$logs/field"
wait "$third" || failed=$?
cat "$logs/rest"
exit "$failed"
