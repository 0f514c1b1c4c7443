#!/bin/bash
# Runs the tests without browsers under sanitizers: a data race or an invalid memory access ends a test with a report.
#
# Usage: scripts/sanitize.sh [SANITIZER...]    address and thread by default
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-debian-packages.sh build test
status=0
# Suppressions: The standard library copies memory onto itself when it reads an optional through a key path, and writes the
# length 0 of an array without capacity into the empty array that all threads share. The sanitizer also does not see how a task
# receives the result of a continuation, and that the last reader has released a buffer before SwiftNIO receives into it again.
suppressions=$(mktemp)
races=$(mktemp)
trap 'rm -f "$suppressions" "$races"' EXIT
echo interceptor_via_lib:libswiftCore >"$suppressions"
printf 'race:%s\n' _swiftEmptyArrayStorage withUnsafeContinuation withUnsafeThrowingContinuation \
  NIOPooledRecvBufferAllocator >"$races"
export SWT_SWIFT_ERROR_BACKTRACING_ENABLED=0
# A sanitizer has threads and memory that the sandbox of a decoding process refuses.
scripts/build.sh build --product chatbot-media
CHATBOT_MEDIA=$(scripts/build.sh build --show-bin-path)/chatbot-media
export CHATBOT_MEDIA

# with_visible_mutexes FOLDER: copies the repository to the folder, with mutexes that the thread sanitizer knows.
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
    # Tests of CPU time prove nothing here.
    CHATBOT_SANITIZER=$one ASAN_OPTIONS=detect_leaks=0:suppressions=$suppressions \
      TSAN_OPTIONS=halt_on_error=1:suppressions=$races \
      "$tests" --testing-library swift-testing --no-parallel --skip '^EndToEndTests|RealTime' </dev/null || status=1
  done
done
exit $status
