#!/usr/bin/env bash
# Makes a virtual environment where Debian's Python came without python3-venv: debian-venv.sh PYTHON FOLDER
set -euo pipefail

"$(dirname "$0")/debian-packages.sh" python3-venv
"$1" -m venv --clear "$2" >/dev/null 2>&1 && exit 0
# The package could only be unpacked, and Python looks for it in the real root: give the environment its pip by hand.
wheels="$(dirname "$0")/../.cache/debian/root/usr/share/python-wheels"
"$1" -m venv --clear --without-pip "$2"
"$2/bin/python" "$(echo "$wheels"/pip-*.whl)/pip" install -q --no-index --find-links "$wheels" pip
