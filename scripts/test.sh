#!/bin/bash
# Installs what the tests need, lints, builds and runs the tests: first all tests that only compute, in parallel, then
# the real-time tests on an otherwise idle machine, a few at a time (see "Reading a failure" in CONTRIBUTING.md).
#
# Usage: scripts/test.sh                     all of that
#        scripts/test.sh lint                only the checks of format, style and structure; installs and builds nothing
#        scripts/test.sh unit [NAME]         only the tests that compute: needs no browser and no privileges
#        scripts/test.sh end-to-end [NAME]   only the tests with browsers
#        scripts/test.sh soak [MINUTES]      joins, leaves and an impaired network, 30 minutes by default
#        scripts/test.sh interop [CALLS]     calls with each other WebRTC stack in each role, 20 by default
#        scripts/test.sh crashes [COUNT]     kills this many recorders at random moments, 100 by default, half of them of H.264
#        scripts/test.sh network             calls through every pair of NATs, direct and relayed
#        scripts/test.sh hostile [SECONDS]   8 honest bots and one attacker in a room, 1000 s by default
#        scripts/test.sh compositions [NAME]  all tests of composed files in their whole form, or those with a matching name
#        scripts/test.sh service [NAME]      all tests of the service of jobs in their whole form, or those with a matching name
#
# STRICT=1 fails the run if a single real-time scenario could not be judged on this machine, or passed alone only.
set -euo pipefail
cd "$(dirname "$0")/.."

what=${1:-all}
name=${2:-}

step() { printf '\n== %s (%d s so far)\n' "$*" "$SECONDS"; }

# run MINUTES COMMAND...: runs a step with a time limit. The step has its own process group, and the shell waits in a
# way that lets it handle signals: ending the script ends the step and all its children.
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
trap 'interrupted 129' HUP
trap 'interrupted 130' INT
trap 'interrupted 143' TERM

# Firefox needs a network namespace, which requires root. Other users become root in a user namespace, where permitted.
root_enough=()
if [[ $(id -u) -ne 0 ]]; then
  if unshare --user --map-root-user true 2>/dev/null; then root_enough=(unshare --user --map-root-user); fi
fi

# lint_sources: checks format, style and structure.
lint_sources() {
  step "Lint"
  run 5 "${SWIFT:-swift}" format lint --strict --parallel --recursive Package.swift Sources Tests Benchmarks Examples
  run 5 scripts/structure.sh circles
  run 5 scripts/text.sh
  run 5 scripts/codecs.sh
  run 5 scripts/sessions.sh
  if command -v python3 >/dev/null; then
    run 5 scripts/api.py check
  else
    echo "SKIPPED: python3 is not installed, so docs/api.md is not compared with the OpenAPI document."
  fi
}
if [[ $what == lint ]]; then
  lint_sources
  exit 0
fi

logs=$(mktemp -d)
memory_watch=
trap '[[ -z $memory_watch ]] || kill "$memory_watch" 2>/dev/null; rm -rf "$logs"' EXIT
journal=$logs/journal
touch "$journal"
export CHATBOT_JOURNAL=$journal
# The output of the tests is searched for failures and durations.
export NO_COLOR=1
# Tests throw a hundred thousand errors, and their backtraces are not needed.
export SWT_SWIFT_ERROR_BACKTRACING_ENABLED=0

# used_memory: the memory in use, in MiB. The subshell records the maximum growth since the start.
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
case $what in
  unit) purposes=(build unit) ;;
  interop) purposes=(build test interop) ;;
  *) purposes=(build test) ;;
esac
# In the foreground, because sudo may ask for a password.
timeout --foreground --kill-after=10 20m scripts/install-debian-packages.sh "${purposes[@]}" </dev/null

if [[ $what == all || $what == end-to-end || $what == service ]]; then
  step "Python packages"
  # Without a network the tests that need them are skipped, and say so.
  timeout --kill-after=10 15m scripts/install-python-packages.sh .build/python </dev/null || true
  for generation in 3 4; do
    python=$PWD/.build/python/socketio$generation/bin/python3
    [[ ! -x $python ]] || export "CHATBOT_SOCKETIO_PYTHON$generation=$python"
  done
  for name in ffmpeg api webhooks moto swift; do
    python=$PWD/.build/python/$name/bin/python3
    [[ ! -x $python ]] || export "CHATBOT_${name^^}_PYTHON=$python"
  done
fi

[[ $what != all ]] || lint_sources

step "Build"
# Of a test target that is named, nothing else is built.
[[ $what != unit || $name != *Tests || ! -d Tests/$name ]] || export CHATBOT_TEST_TARGETS=$name
run 60 scripts/build.sh build --build-tests
bin=$(scripts/build.sh build --show-bin-path)
# Like `swift test`, but that would leave this process running when it is ended itself.
runner=("$bin/chatbotPackageTests.xctest" --testing-library swift-testing)

# Programs that inspect many small files are started once, not for each file. Without a C compiler the tests only take longer.
if compiler=$(command -v clang || command -v cc); then
  "$compiler" -shared -fPIC -O1 -Wall -Wextra -Werror -o "$logs/fork-server.so" Tests/ForkServer/fork_server.c
  export CHATBOT_FORK_SERVER=$logs/fork-server.so
fi

# tests MINUTES COMMAND...: runs tests; lists the failures again at the end.
failed=0
tests() {
  local log status=0 printer
  log=$(mktemp "$logs/tests.XXXXXX")
  mkfifo "$log.pipe"
  tee "$log" <"$log.pipe" &
  printer=$!
  run "$@" >"$log.pipe" 2>&1 || status=$?
  # A process that a test has left behind has the pipe open, and must not hold up the others.
  for _ in {1..100}; do
    kill -0 "$printer" 2>/dev/null || break
    sleep 0.1
  done
  ! kill "$printer" 2>/dev/null || printf 'A test has left a process behind, which has its output open.\n'
  wait "$printer" 2>/dev/null || true
  rm "$log.pipe"
  [[ $status -ne 0 ]] || return 0
  failed=1
  printf '\n== What failed\n'
  grep -E '✘ Test .*(recorded an issue|failed after)|Fatal error|error:' "$log" | cut -c1-600 | tail -40 |
    tee -a "$logs/failures" || true
}

# unit_tests NAME: runs the tests that only compute, or those of them with a matching name.
unit_tests() {
  if [[ -n $1 ]]; then
    step "Tests without browsers: $1"
    tests 20 "${runner[@]}" --no-parallel --filter "$1" --skip '^EndToEndTests|RealTime'
    return
  fi
  step "Tests without browsers"
  # Six processes of about the same duration, each with one test at a time. The tests of Firestore and Janus mostly wait for
  # their servers, those of the service for databases, stores and processes; one process is for fuzzing.
  local engine='^(BotPeer|CallCheck|CallReport|Codecs|FaultInjection|FileSource|NetworkEmulation|Pattern|PeerEngine|SDP)Tests[.]'
  local files='^(Recorder|SocketIO|WHIP)Tests[.]'
  local servers='^(Firestore|Janus)Tests[.]'
  local service='^(JobProcess|ObjectStore|S3|SQLStore|Service|Webhooks)Tests[.]'
  printf '%s\n' "--filter '$files'" "--filter '$servers'" "--filter '$engine' --skip RealTime" \
    "--filter '$service' --skip RealTime" "--skip '$engine|$files|$servers|$service|^(EndToEnd|Fuzz)Tests|RealTime'" \
    "--filter ^FuzzTests" >"$logs/processes"
  tests 20 xargs --arg-file="$logs/processes" --max-lines=1 --max-procs=6 "${runner[@]}" --no-parallel
}

# real_time_tests: runs the tests with the real clock, and the scenarios with browsers.
real_time_tests() {
  step "Tests in real time"
  tests 15 "${runner[@]}" --filter RealTime
  step "End-to-end tests with Chromium and Firefox"
  end_to_end 50 ""
}

# end_to_end MINUTES NAME: runs the scenarios with a matching name.
end_to_end() {
  tests "$1" "${root_enough[@]}" "${runner[@]}" --filter "EndToEndTests${2:+.*$2}"
}

# signalling_table SYSTEMS: compares docs/signalling.md with what the scenarios found. Each use of these systems must
# have been tried.
signalling_table() {
  step "The table of signalling systems"
  CHATBOT_REQUIRED_OUTCOMES=$1 tests 5 "${runner[@]}" --filter SignallingTableTests
}

# longest: prints the slowest tests, from the lines `✔ Test "NAME" passed after 1.234 seconds.`
longest() {
  step "The twenty slowest tests"
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
    step "Kill $CHATBOT_CRASHES recorders"
    end_to_end $((CHATBOT_CRASHES / 5 + 10)) CrashTests
    ;;
  hostile)
    export CHATBOT_HOSTILE_SECONDS=${name:-1000}
    step "8 honest bots and one attacker for $CHATBOT_HOSTILE_SECONDS s"
    end_to_end $((CHATBOT_HOSTILE_SECONDS / 30 + 20)) HostileRoomTests
    ;;
  network)
    export CHATBOT_NETWORK=1
    step "Calls through every pair of NATs"
    end_to_end 30 '(NetworkLabTests|NATCallTests|NAT64Tests|TCPCallTests|NATBrowserTests|NameTests|NameBrowserTests|TURNCallTests|TURNCredentialTests|UplinkTests|DiagnoseTests)'
    ;;
  interop)
    export CHATBOT_INTEROP_CALLS=${name:-20}
    step "Compile the Pion peer"
    # Only a module in a GOPATH finds Debian's packages by import paths without a version.
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
  service)
    # Without this variable, tests of the service have the short form that `make test` runs.
    export CHATBOT_SERVICE_TESTS=whole
    if [[ -z $name ]]; then
      step "Modules of the service"
      tests 10 "${runner[@]}" --no-parallel --skip RealTime \
        --filter '^(JobProcess|JobProtocol|ObjectStore|PrometheusText|S3|SQLStore|Service|Webhooks)Tests[.]'
    fi
    step "The service in its whole form"
    # The suites of the service have names that begin with Service. What mostly waits runs beside the others.
    end_to_end 45 "/Service${name:+.*$name}"
    # Those of jobs once more with PostgreSQL and S3 in place of SQLite and a folder, where both can be had.
    if [[ -n ${CHATBOT_MOTO_PYTHON:-} && -x /usr/lib/postgresql/15/bin/postgres ]]; then
      step "The service with PostgreSQL and S3"
      CHATBOT_SERVICE_BACKENDS=cluster end_to_end 30 "/Service(Tests|API|Kill|End|Page|Pause|Crowd|Metrics|Storing|Webhook)${name:+.*$name}"
    fi
    longest
    ;;
  compositions)
    # Without this variable, the tests have the short form that `make test` runs.
    export CHATBOT_COMPOSITION_TESTS=whole
    step "Compositions in their whole form"
    # The suites have names that begin with Composition.
    end_to_end 60 "/Composition${name:+.*$name}"
    longest
    ;;
  end-to-end)
    step "End-to-end tests with Chromium and Firefox"
    end_to_end 30 "$name"
    signalling_table ""
    ;;
  unit)
    # A third of the usual time for random inputs, because this is run after each edit.
    export CHATBOT_FUZZ_SECONDS=${CHATBOT_FUZZ_SECONDS:-20}
    unit_tests "$name"
    ;;
  all)
    unit_tests ""
    step "Instructions for a packet"
    run 10 scripts/instructions.sh || failed=1
    real_time_tests
    # The scenarios of socket.io are skipped without its Python packages, which need a network.
    signalling_table "skyrtc firestore whip whep janus exec${CHATBOT_SOCKETIO_PYTHON4:+ socket.io}"
    longest
    ;;
esac

step "The machine"
[[ $what == unit ]] || "$bin/stall-meter" summary "$journal" || failed=1
printf 'Memory use grew by at most %s MiB since the start.\n' "$(cat "$logs/memory" 2>/dev/null || echo 0)"

[[ $failed -eq 0 ]] || {
  # Repeated at the very end, because some logs are cut to their last lines.
  printf '\nTests failed; %d min %d s in all.\n' $((SECONDS / 60)) $((SECONDS % 60))
  tail -40 "$logs/failures" 2>/dev/null || true
  exit 1
}
printf '\nAll tests passed; %d min %d s in all.\n' $((SECONDS / 60)) $((SECONDS % 60))
