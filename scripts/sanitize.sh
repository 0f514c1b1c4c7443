#!/bin/bash
# Runs the tests without browsers under sanitizers: a data race, or a use of memory that is not ours, ends a test with a report.
#
# Usage: scripts/sanitize.sh [SANITIZER...]    address and thread by default
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-debian-packages.sh build test
status=0
# The standard library copies memory onto itself when it reads an optional by a key path, and writes the length of an array of no
# capacity, 0, into the empty array that all threads share. How a task takes up the result of a continuation is not seen either,
# and no more is that a buffer which SwiftNIO receives into again was released by its last reader before.
suppressions=$(mktemp)
races=$(mktemp)
trap 'rm -f "$suppressions" "$races"' EXIT
echo interceptor_via_lib:libswiftCore >"$suppressions"
printf 'race:%s\n' _swiftEmptyArrayStorage withUnsafeContinuation withUnsafeThrowingContinuation \
  NIOPooledRecvBufferAllocator >"$races"
export SWT_SWIFT_ERROR_BACKTRACING_ENABLED=0

# with_visible_mutexes FOLDER: makes the folder a copy of this one in which the thread sanitizer sees the mutexes.
with_visible_mutexes() {
  rm -rf "$1"
  mkdir -p "$1"
  tar --create --exclude=./.build --exclude=./.git . | tar --extract --directory="$1"
  local module
  for module in "$1"/Sources/* "$1"/Tests/*; do
    if [[ $module != */Sanitizers ]] && grep -rlqE 'Mutex[(<]' --include='*.swift' "$module"; then
      cp -p Tests/Sanitizers/Mutex.swift "$module/"
    fi
  done
}

root=$PWD
for sanitizer in "${@:-address thread}"; do
  for one in $sanitizer; do
    tree=$root
    if [[ $one == thread ]]; then
      tree=$root/.build/thread-sources
      with_visible_mutexes "$tree"
    fi
    printf '\n== Build for the %s sanitizer (%d s so far)\n' "$one" "$SECONDS"
    arguments=(--build-tests --sanitize "$one" --scratch-path "$root/.build/$one")
    "$tree/scripts/build.sh" build "${arguments[@]}"
    tests=$("$tree/scripts/build.sh" build "${arguments[@]}" --show-bin-path)/chatbotPackageTests.xctest
    printf '\n== Tests under the %s sanitizer (%d s so far)\n' "$one" "$SECONDS"
    # What takes how much processor time says nothing here.
    CHATBOT_SANITIZER=$one ASAN_OPTIONS=detect_leaks=0:suppressions=$suppressions \
      TSAN_OPTIONS=halt_on_error=1:suppressions=$races \
      "$tests" --testing-library swift-testing --no-parallel --skip '^EndToEndTests|RealTime' </dev/null || status=1
  done
done
exit $status
