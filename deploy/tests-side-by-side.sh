#!/usr/bin/env bash
# tests-side-by-side.sh PYTHON [ARGUMENT...]: every test, in two processes side by side, since they wait for real
# servers and clocks far more than they compute. With arguments: one pytest, as they say.
set -euo pipefail
python=$1
shift
[ $# -eq 0 ] || exec "$python" -m pytest "$@"

apart=(tests/whole tests/dashboards tests/simulator tests/bench)
said=$(mktemp)
"$python" -m pytest "${apart[@]}" > "$said" 2>&1 &
other=$!
trap 'if [ -n "$other" ]; then kill -INT "$other"; wait "$other" || true; fi; rm -f "$said"' EXIT
code=0
"$python" -m pytest "${apart[@]/#/--ignore=}" || code=$?
wait "$other" || code=$?
other=""
cat "$said"
exit "$code"
