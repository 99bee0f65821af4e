#!/usr/bin/env bash
# Runs a command with the packages in reach that deploy/debian-packages.sh had to unpack: with-debian-packages.sh CMD...
set -euo pipefail

root="$(cd "$(dirname "$0")/.." && pwd)/.cache/debian/root"
if [ -d "$root/usr" ]; then
  triplet="$(uname -m)-linux-gnu"
  libraries=""
  for folder in "$root/usr/lib/$triplet" "$root/lib/$triplet" "$root/usr/lib/$triplet"/*/ "$root/usr/lib"; do
    if compgen -G "$folder/*.so*" >/dev/null; then libraries="$libraries:${folder%/}"; fi
  done
  export VIGIA_DEBIAN_ROOT="$root"
  export PATH="$PATH:$root/usr/local/bin:$root/usr/bin:$root/usr/sbin:$root/bin:$root/sbin"
  export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}${libraries#:}"
  export LIBRARY_PATH="${LIBRARY_PATH:+$LIBRARY_PATH:}$root/usr/lib/$triplet:$root/usr/lib"
  export C_INCLUDE_PATH="${C_INCLUDE_PATH:+$C_INCLUDE_PATH:}$root/usr/include:$root/usr/include/$triplet"
fi
exec "$@"
