#!/usr/bin/env bash
# Runs the commands that a page shows: every line `$ command` in its ```console blocks, from the root of the project,
# each in a shell of its own. A line that ends with `# exit N` has to exit with N, every other one with 0.
# A line that ends with a backslash goes on in the next one.
#
# usage: tests/readme.sh [FILE]     FILE is README.md unless given; the exit code is 1 if a command does not behave
set -euo pipefail

page=$(readlink -f -- "${1:-$(dirname -- "$0")/../README.md}")
cd -- "$(dirname -- "$0")/.."
export PATH=$PWD/build/release:$PATH

# Prints the commands, one a line.
commands() {
  local line inside=no command=
  while IFS= read -r line || [[ -n $line ]]; do
    line=${line#"${line%%[![:space:]]*}"}
    case $inside$line in
      no'```console'*) inside=yes ;;
      yes'```'*) inside=no ;;
      yes*)
        if [[ -n $command ]]; then command+=$line; elif [[ $line == '$ '* ]]; then command=${line#'$ '}; fi
        if [[ $command == *\\ ]]; then
          command=${command%\\}
        elif [[ -n $command ]]; then
          printf '%s\n' "$command"
          command=
        fi
        ;;
    esac
  done <"$page"
}

# Runs one command and compares its exit code with the promised one; the output is shown only if they differ.
check() {
  local command=$1 expected=0 code=0 output
  if [[ $command =~ '# exit '([0-9]+)[[:space:]]*$ ]]; then expected=${BASH_REMATCH[1]}; fi
  output=$(bash -o pipefail -c "$command" </dev/null 2>&1) || code=$?
  if ((code == expected)); then
    printf 'ok      $ %s\n' "$command"
    return
  fi
  printf '%s\nFAILED  $ %s\n        exit code %d instead of %d\n' "$output" "$command" "$code" "$expected"
  return 1
}

mapfile -t shown < <(commands)
if ((${#shown[@]} == 0)); then
  printf 'readme.sh: %s shows no command\n' "$page" >&2
  exit 1
fi
failed=0
for command in "${shown[@]}"; do
  check "$command" || failed=1
done
exit "$failed"
