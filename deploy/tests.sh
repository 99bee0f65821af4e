#!/usr/bin/env bash
# Runs every test: tests.sh PYTHON. With pytest arguments behind it, runs just what they ask for, in one process.
#
# Tests of whole gateways and demos mostly wait, for real time to pass; the others mostly compute. So they run side by
# side, the computing ones with the lower claim to the processor, lest the waiting ones measure a busy machine.
set -uo pipefail

python=$1
shift
if [ $# -gt 0 ]; then exec "$python" -m pytest "$@"; fi

waiting=(tests/whole tests/simulator/test_demo.py tests/simulator/test_simulate.py)
log=$(mktemp)
nice -n 5 "$python" -m pytest -p no:cacheprovider tests "${waiting[@]/#/--ignore=}" >"$log" 2>&1 &
computing=$!
trap 'kill "$computing" 2>/dev/null; rm -f "$log"' EXIT
trap 'exit 130' INT TERM

"$python" -m pytest -p no:cacheprovider "${waiting[@]}"
first=$?
wait "$computing"
second=$?
cat "$log"
exit $((first ? first : second))
