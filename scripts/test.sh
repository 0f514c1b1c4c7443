#!/bin/bash
# Installs what the tests need, lints, builds, and runs them: first everything that computes, side by side, then what runs in
# real time, one after another on a machine that is otherwise at rest.
#
# Usage: scripts/test.sh [end-to-end [NAME]]
#        scripts/test.sh soak [MINUTES]      joins, leaves and a bad network for so long, 30 by default
#        scripts/test.sh interop [CALLS]     calls with each other WebRTC stack in each role, 20 by default
#        scripts/test.sh crashes [COUNT]     kills so many recorders at random moments, 100 by default
#        scripts/test.sh hostile [SECONDS]   8 honest bots and one attacker in a room for so long, 1000 by default
#
# STRICT=1 fails the run if a single real-time scenario could not be judged on this machine.
set -euo pipefail
cd "$(dirname "$0")/.."

what=${1:-all}
name=${2:-}

step() { printf '\n== %s (%d s so far)\n' "$*" "$SECONDS"; }

# run MINUTES COMMAND...: no step may hang for ever. It has a process group of its own, and the shell waits in a way that lets it
# take signals: who ends the run ends the step and all its children.
step_id=
run() {
  local minutes=$1 status=0
  shift
  timeout --kill-after=10 "${minutes}m" "$@" </dev/null &
  step_id=$!
  wait "$step_id" || status=$?
  step_id=
  [[ $status -ne 124 ]] || printf 'This took more than %d minutes and was ended: %s\n' "$minutes" "$*" >&2
  return $status
}
interrupted() {
  trap '' HUP INT TERM
  if [[ -n $step_id ]]; then
    kill -TERM "$step_id" 2>/dev/null || true
    wait "$step_id" || true
  fi
  exit "$1"
}

# Firefox gets a network namespace of its own, which needs root. Others are root in a user namespace, where they may.
root_enough=()
if [[ $(id -u) -ne 0 ]]; then
  if unshare --user --map-root-user true 2>/dev/null; then root_enough=(unshare --user --map-root-user); fi
fi

logs=$(mktemp -d)
memory_watch=
trap '[[ -z $memory_watch ]] || kill "$memory_watch" 2>/dev/null; rm -rf "$logs"' EXIT
trap 'interrupted 129' HUP
trap 'interrupted 130' INT
trap 'interrupted 143' TERM
journal=$logs/journal
touch "$journal"
export CHATBOT_JOURNAL=$journal
# What the tests print is searched for what failed and what took long.
export NO_COLOR=1
# Tests throw a hundred thousand errors, and where each was thrown is looked at by nobody.
export SWT_SWIFT_ERROR_BACKTRACING_ENABLED=0

# How much more memory is in use than at the start, at most, in MiB.
used_memory() { awk '/^MemTotal:/ { all = $2 } /^MemAvailable:/ { free = $2 } END { print int((all - free) / 1024) }' /proc/meminfo; }
memory_at_start=$(used_memory)
(
  most=0
  while sleep 2; do
    now=$(($(used_memory) - memory_at_start))
    if ((now > most)); then
      most=$now
      echo "$most" >"$logs/memory"
    fi
  done
) &
memory_watch=$!

step "Debian packages"
# In the foreground, because sudo may request a password.
timeout --foreground --kill-after=10 20m scripts/install-debian-packages.sh build test \
  $([[ $what != interop ]] || echo interop) </dev/null

if [[ $what == all ]]; then
  step "Lint"
  run 5 "${SWIFT:-swift}" format lint --strict --parallel --recursive Package.swift Sources Tests Benchmarks Examples
  run 5 scripts/structure.sh circles
fi

step "Build"
run 60 scripts/build.sh build --build-tests
bin=$(scripts/build.sh build --show-bin-path)
# As `swift test` does it, which would leave this process behind when it is ended itself.
runner=("$bin/chatbotPackageTests.xctest" --testing-library swift-testing)

# Programs that look at many small files are started once, not for each file. Without a C compiler they only take longer.
if compiler=$(command -v clang || command -v cc); then
  "$compiler" -shared -fPIC -O1 -Wall -Wextra -Werror -o "$logs/fork-server.so" Tests/ForkServer/fork_server.c
  export CHATBOT_FORK_SERVER=$logs/fork-server.so
fi

# tests MINUTES COMMAND...: runs tests; what failed is listed once more at the end.
failed=0
tests() {
  local log status=0 printer
  log=$(mktemp "$logs/tests.XXXXXX")
  mkfifo "$log.pipe"
  tee "$log" <"$log.pipe" &
  printer=$!
  run "$@" >"$log.pipe" 2>&1 || status=$?
  wait "$printer"
  rm "$log.pipe"
  [[ $status -ne 0 ]] || return 0
  failed=1
  printf '\n== What failed\n'
  grep -E '✘ Test .*(recorded an issue|failed after)|Fatal error|error:' "$log" | cut -c1-600 | tail -40 |
    tee -a "$logs/failures" || true
}

# end_to_end MINUTES NAME: runs the scenarios whose names match.
end_to_end() {
  tests "$1" "${root_enough[@]}" "${runner[@]}" --filter "EndToEndTests${2:+.*$2}"
}

# The tests that took longest, from the lines `✔ Test "NAME" passed after 1.234 seconds.`
longest() {
  step "The longest twenty tests"
  cat "$logs"/tests.* | sed -nE 's/^. Test (.*) (passed|failed) after ([0-9.]+) seconds.*/\3 s  \1/p' | sort -rn | sed -n 1,20p
}

case $what in
  soak)
    export CHATBOT_SOAK_MINUTES=${name:-30}
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
  hostile)
    export CHATBOT_HOSTILE_SECONDS=${name:-1000}
    step "8 honest bots and one attacker for $CHATBOT_HOSTILE_SECONDS s"
    end_to_end $((CHATBOT_HOSTILE_SECONDS / 30 + 20)) HostileRoomTests
    ;;
  interop)
    export CHATBOT_INTEROP_CALLS=${name:-20}
    step "Compile the Pion peer"
    # Debian's packages are found by import paths without a version from a module in a GOPATH only.
    workspace=$PWD/.build/pion
    rm -rf "$workspace"
    mkdir -p "$workspace/src/pion-peer"
    cp Tests/Interop/pion-peer/* "$workspace/src/pion-peer/"
    export CHATBOT_PION_PEER=$workspace/pion-peer
    run 10 env --chdir="$workspace/src/pion-peer" GO111MODULE=off GOFLAGS= "GOPATH=$workspace:/usr/share/gocode" \
      go build -o "$CHATBOT_PION_PEER" .
    step "$CHATBOT_INTEROP_CALLS calls with each stack in each role"
    end_to_end 60 InteropTests
    ;;
  end-to-end)
    step "End-to-end tests with Chromium and Firefox"
    end_to_end 30 "$name"
    ;;
  all)
    step "Tests without browsers"
    # Two processes with about the same to do, each one test after another, and one that fuzzes.
    first='^(BotPeer|CallCheck|Codecs|FileSource|Pattern|SDP)Tests[.]'
    printf '%s\n' "--filter '$first' --skip RealTime" "--skip '$first|^(EndToEnd|Fuzz)Tests|RealTime'" \
      "--filter ^FuzzTests" >"$logs/processes"
    tests 20 xargs --arg-file="$logs/processes" --max-lines=1 --max-procs=3 "${runner[@]}" --no-parallel
    step "Instructions for a packet"
    run 10 scripts/instructions.sh || failed=1
    step "Tests in real time"
    tests 15 "${runner[@]}" --filter RealTime
    step "End-to-end tests with Chromium and Firefox"
    end_to_end 50 ""
    longest
    ;;
esac

step "The machine"
"$bin/stall-meter" summary "$journal" || failed=1
printf 'At most %s MiB of memory were in use beyond those at the start.\n' "$(cat "$logs/memory" 2>/dev/null || echo 0)"

[[ $failed -eq 0 ]] || {
  # Once more at the very end, because some logs are cut to their last lines.
  printf '\nTests failed; %d min %d s in all.\n' $((SECONDS / 60)) $((SECONDS % 60))
  tail -40 "$logs/failures" 2>/dev/null || true
  exit 1
}
printf '\nAll tests passed; %d min %d s in all.\n' $((SECONDS / 60)) $((SECONDS % 60))
