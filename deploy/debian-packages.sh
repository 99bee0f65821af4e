#!/usr/bin/env bash
# Makes Debian packages available: debian-packages.sh PACKAGE...
#
# Nothing to do where they are there already. Else apt-get as root or through sudo; else the packages and what they
# depend on are downloaded and unpacked under .cache/debian, which deploy/with-debian-packages.sh puts into reach.
set -euo pipefail
cd "$(dirname "$0")/.."

cache="$PWD/.cache/debian"
say() { echo "debian-packages: $*" >&2; }

# A package counts as there if dpkg says so, if it was unpacked before, or if what it is wanted for is there anyway.
present() {
  [ -e "$cache/have/$1" ] && return 0
  if command -v dpkg-query >/dev/null; then
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ] && return 0
  fi
  case "$1" in
    mosquitto) [ -x /usr/sbin/mosquitto ] || [ -x "$(command -v mosquitto)" ] ;;
    influxdb) [ -x "$(command -v influxd)" ] ;;
    victoria-metrics | gcc | chromium) [ -x "$(command -v "$1")" ] ;;
    libc6-dev) [ -s /usr/include/stdio.h ] ;;
    libmodbus-dev) [ -s /usr/include/modbus/modbus.h ] ;;
    *) return 1 ;;
  esac
}

missing=()
for package in "$@"; do present "$package" || missing+=("$package"); done
[ ${#missing[@]} -eq 0 ] && exit 0

if ! command -v apt-get >/dev/null; then
  say "these are needed and there is no apt-get to fetch them: ${missing[*]}"
  exit 1
fi

# --- with rights: apt-get itself ------------------------------------------------------------------

listed() { compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null; }

# Old or absent lists are renewed only once something could not be had from them. Services are not started: the
# tests bring up their own, on free ports.
install_with() {
  local policy=/usr/sbin/policy-rc.d made=""
  local get=("$@" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0)
  if [ ! -e $policy ]; then
    printf '#!/bin/sh\nexit 101\n' | "$@" tee $policy >/dev/null && "$@" chmod 755 $policy && made=yes
  fi
  say "installing ${missing[*]}"
  local done=""
  if listed && "${get[@]}" install -y --no-install-recommends "${missing[@]}" >/dev/null 2>&1; then
    done=yes
  elif "${get[@]}" update >&2 && "${get[@]}" install -y --no-install-recommends "${missing[@]}" >&2; then
    done=yes
  fi
  [ -n "$made" ] && "$@" rm -f $policy
  [ -n "$done" ]
}

if [ "$(id -u)" -eq 0 ]; then
  install_with && exit 0
  say "apt-get could not install ${missing[*]}"
  exit 1
fi
if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
  install_with sudo -n && exit 0
fi

# --- without: download and unpack -----------------------------------------------------------------

mkdir -p "$cache"/{state/lists/partial,cache/archives/partial,archives,root,have}
apt=(-qq -o Debug::NoLocking=1 -o "APT::Sandbox::User=$(id -un 2>/dev/null || id -u)"
  -o "Dir::State=$cache/state" -o Dir::State::status=/var/lib/dpkg/status -o "Dir::Cache=$cache/cache")
system=(-o Dir::State::lists=/var/lib/apt/lists)

# The packages themselves and everything they need that is not installed, as name=version.
fetch() {
  local wanted
  wanted=$(apt-get "${apt[@]}" "$@" -s install --no-install-recommends "${missing[@]}" 2>/dev/null |
    sed -nE 's/^Inst ([^ ]+) (\[[^]]*\] )?\(([^ ]+) .*/\1=\3/p') || return 1
  [ -n "$wanted" ] || return 1
  rm -f "$cache"/archives/*.deb
  # shellcheck disable=SC2086 -- one word for each package is meant
  (cd "$cache/archives" && apt-get "${apt[@]}" "$@" download $wanted >&2)
}

say "no rights to install; unpacking ${missing[*]} under .cache/debian"
if ! { listed && fetch "${system[@]}" 2>/dev/null; }; then
  apt-get "${apt[@]}" update >&2 || say "the package lists could not be renewed"
  fetch || { say "could not be downloaded: ${missing[*]}"; exit 1; }
fi
for archive in "$cache"/archives/*.deb; do dpkg-deb -x "$archive" "$cache/root"; done
rm -f "$cache"/archives/*.deb

# Linker scripts and absolute links name places of the real root; here they must name ours.
find "$cache/root/usr/lib" -name '*.so' -type f -size -4k -exec grep -lI 'GNU ld script' {} + 2>/dev/null |
  while read -r script; do
    for path in $(grep -oE '(/usr)?/lib[^ )]*' "$script" | sort -u); do
      for inside in "$cache/root$path" "$cache/root/usr$path"; do
        if [ -e "$inside" ]; then
          sed -i "s#\(^\|[ (]\)$path#\1$inside#g" "$script"
          break
        fi
      done
    done
  done
for package in "${missing[@]}"; do touch "$cache/have/$package"; done
