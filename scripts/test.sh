#!/bin/bash
# Installs what the tests need, lints, builds, and runs them: first everything that needs no browser, side by side, then
# the end-to-end scenarios, one after another on a machine that is otherwise at rest.
#
# Usage: scripts/test.sh [end-to-end [NAME]]
#        scripts/test.sh soak [MINUTES]      joins, leaves and a bad network for so long, 30 by default
#        scripts/test.sh crashes [COUNT]     kills so many recorders at random moments, 100 by default
set -euo pipefail
cd "$(dirname "$0")/.."

what=${1:-all}
name=${2:-}
swift=${SWIFT:-swift}

step() { printf '\n== %s (%d s so far)\n' "$*" "$SECONDS"; }

# run MINUTES COMMAND...: no step may hang for ever. On a terminal it stays in reach of Ctrl-C; elsewhere a step that is
# ended takes all its children along.
foreground=()
if [[ -t 1 ]]; then foreground=(--foreground); fi
run() {
  local minutes=$1 status=0
  shift
  timeout "${foreground[@]}" --kill-after=10 "${minutes}m" "$@" </dev/null || status=$?
  [[ $status -ne 124 ]] || printf 'This took more than %d minutes and was ended: %s\n' "$minutes" "$*" >&2
  return $status
}

# Firefox gets a network namespace of its own, which needs root. Others are root in a user namespace, where they may.
root_enough=()
if [[ $(id -u) -ne 0 ]]; then
  if unshare --user --map-root-user true 2>/dev/null; then root_enough=(unshare --user --map-root-user); fi
fi

step "Debian packages"
run 20 scripts/install-debian-packages.sh build test

if [[ $what == all ]]; then
  step "Lint"
  run 5 "$swift" format lint --strict --parallel --recursive Package.swift Sources Tests
fi

step "Build"
run 45 "$swift" build --build-tests

# tests MINUTES COMMAND...: runs tests; what failed is told once more at the end, where it is looked for.
tests() {
  local log status=0
  log=$(mktemp)
  run "$@" 2>&1 | tee "$log" || status=$?
  if [[ $status -ne 0 ]]; then
    printf '\n== What failed\n'
    grep -E '✘ Test .*(recorded an issue|failed after)|Fatal error|error:' "$log" | cut -c1-600 | tail -40 || true
  fi
  rm -f "$log"
  return $status
}

# A few tests at once: 1,400 of them side by side let each wait for minutes, and DTLS has a clock of its own.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=$((2 * $(nproc)))

if [[ $what == all ]]; then
  step "Tests without browsers"
  tests 15 "$swift" test --skip-build --skip EndToEndTests --skip RealTime
  step "Tests in real time"
  tests 5 "$swift" test --skip-build --filter RealTime
fi

# end_to_end MINUTES NAME: runs the scenarios whose names match.
end_to_end() {
  tests "$1" "${root_enough[@]}" "$swift" test --skip-build --filter "EndToEndTests${2:+.*$2}"
}

case $what in
  soak)
    # What memory and descriptors do in the long run is asked of the program as people use it.
    step "Build the program for release"
    run 45 "$swift" build --configuration release --product chatbot
    CHATBOT_PROGRAM=$("$swift" build --configuration release --show-bin-path)/chatbot
    export CHATBOT_PROGRAM CHATBOT_SOAK_MINUTES=${name:-30}
    step "30 % loss for a minute"
    end_to_end 10 LossTests/heavyLoss
    step "$CHATBOT_SOAK_MINUTES minutes of joins, leaves and impairment"
    end_to_end $((CHATBOT_SOAK_MINUTES + 20)) SoakTests
    ;;
  crashes)
    export CHATBOT_CRASHES=${name:-100}
    step "$CHATBOT_CRASHES recorders are killed"
    end_to_end $((CHATBOT_CRASHES / 5 + 10)) CrashTests
    ;;
  *)
    step "End-to-end tests with Chromium and Firefox"
    end_to_end 20 "$name"
    ;;
esac

printf '\nAll tests passed; %d min %d s in all.\n' $((SECONDS / 60)) $((SECONDS % 60))
