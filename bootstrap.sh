#!/usr/bin/env bash
# From a fresh Debian 12 to a running trilemma: installs what is missing, builds, and hands over.
set -euo pipefail

root=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
build=$root/build/release
log=

# A code that trilemma itself never uses (EX_UNAVAILABLE).
readonly unavailable=69

usage() {
  cat <<'TEXT'
usage: ./bootstrap.sh run FILE [options]   build trilemma and run an experiment
       ./bootstrap.sh VERB [arguments]     the same for any other verb of trilemma: check, show, schema, ...
       ./bootstrap.sh test [arguments]     build and run all tests; arguments go to ctest
       ./bootstrap.sh build                build only
       ./bootstrap.sh install-deps         install the packages of packages.txt that are missing, nothing else

Files are relative to the current directory. Every verb but install-deps builds the release preset first (build/release).
CMAKE_BUILD_PARALLEL_LEVEL and CTEST_PARALLEL_LEVEL set the number of jobs; the default is the number of processors.
The exit code is that of trilemma or ctest; 2 is wrong usage, 69 a failed installation or build.
TEXT
}

say() { printf '%s\n' "$*" >&2; }

die() {
  say "bootstrap.sh: $*"
  exit "$unavailable"
}

discard_log() { if [[ -n $log ]]; then rm -f -- "$log"; fi; }
trap discard_log EXIT

# Runs a command and shows its output only if it fails.
quietly() {
  local code=0
  [[ -n $log ]] || log=$(mktemp)
  "$@" >"$log" 2>&1 || code=$?
  if ((code != 0)); then cat -- "$log" >&2; fi
  return "$code"
}

wanted_packages() {
  local name
  while read -r name _; do
    if [[ -n $name && $name != '#'* ]]; then printf '%s\n' "$name"; fi
  done <"$root/packages.txt"
}

missing_packages() {
  local name state
  local -a wanted
  local -A installed=()
  mapfile -t wanted < <(wanted_packages)
  while read -r name state; do
    if [[ $state == installed ]]; then installed[$name]=1; fi
  done < <(dpkg-query --show --showformat='${Package} ${db:Status-Status}\n' "${wanted[@]}" 2>/dev/null)
  for name in "${wanted[@]}"; do
    if [[ ! -v installed[$name] ]]; then printf '%s\n' "$name"; fi
  done
}

# The package lists are fetched only if the first attempt fails: they may be absent (a fresh container) or out of date.
install() {
  local -a apt=(env DEBIAN_FRONTEND=noninteractive apt-get --yes -o DPkg::Lock::Timeout=300)
  if ((EUID != 0)); then apt=(sudo "${apt[@]}"); fi
  "${apt[@]}" install --no-install-recommends "$@" && return
  "${apt[@]}" update && "${apt[@]}" install --no-install-recommends "$@"
}

install_dependencies() {
  local -a missing
  local by_hand
  command -v dpkg-query >/dev/null ||
    die 'not a Debian system; install what packages.txt names, then: cmake --preset release && cmake --build --preset release'
  mapfile -t missing < <(missing_packages)
  ((${#missing[@]})) || return 0
  by_hand="run as root: apt-get update && apt-get install --yes --no-install-recommends ${missing[*]}"
  command -v apt-get >/dev/null || die "no apt-get to install the missing packages: ${missing[*]}"
  if ((EUID != 0)); then
    command -v sudo >/dev/null || die "not root and no sudo; $by_hand"
    sudo -v 2>/dev/null || die "sudo refused; $by_hand"
  fi
  say "installing ${missing[*]} ..."
  quietly install "${missing[@]}" || die "apt-get failed to install: ${missing[*]}"
}

# A build folder of another place (a copied tree) or of older presets is set up afresh.
configured() {
  [[ -f $build/build.ninja && ! $root/CMakePresets.json -nt $build/build.ninja ]] &&
    grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$build/CMakeCache.txt"
}

configure_and_build() (
  cd -- "$root" || return
  configured || cmake --fresh --preset release || return
  cmake --build --preset release
)

build_release() {
  install_dependencies
  say 'building trilemma (release) ...'
  mkdir -p -- "$root/build"
  # One build at a time, so that several runs can be started at once.
  exec 9>"$root/build/.lock"
  flock 9
  quietly configure_and_build || die 'the build failed'
  exec 9>&-
}

export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}
export CTEST_PARALLEL_LEVEL=${CTEST_PARALLEL_LEVEL:-$(nproc)}

case ${1-} in
  '')
    usage >&2
    exit 2
    ;;
  -h | --help) usage ;;
  install-deps) install_dependencies ;;
  build) build_release ;;
  test)
    build_release
    discard_log
    cd -- "$root"
    exec ctest --preset release "${@:2}"
    ;;
  *)
    build_release
    discard_log
    [[ -x $build/trilemma ]] || die "the build left no program at $build/trilemma"
    exec "$build/trilemma" "$@"
    ;;
esac
