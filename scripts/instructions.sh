#!/bin/bash
# Counts the instructions for each received and recorded RTP packet, of sender and receiver together, and for each datagram of a
# stranger that is dropped after it was read. callgrind counts them in a call that is the same each time
# (Benchmarks/Instructions). Fails if a number is more than 5 % above that in Benchmarks/instructions.txt for this compiler and
# processor architecture; without an entry the number is only printed.
#
# Usage: scripts/instructions.sh [--record]     --record writes the file
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
  printf 'instructions.sh: %s\n' "$*" >&2
  exit 1
}

bound=5
baseline=Benchmarks/instructions.txt
scripts/build.sh build --product call-instructions >&2
built=$(scripts/build.sh build --show-bin-path)/call-instructions
# Otherwise the order of dictionary keys differs in each run.
export SWIFT_DETERMINISTIC_HASHING=1
folder=$(mktemp -d "${TMPDIR:-/tmp}/chatbot-instructions.XXXXXX")
trap 'rm -rf "$folder"' EXIT
# Valgrind of Debian 12 cannot read the debug information of Swift.
program=$folder/call-instructions
strip --strip-debug -o "$program" "$built"

# count SECONDS DATAGRAMS: sets packets and instructions.
count() {
  packets=$(timeout 300 valgrind --quiet --tool=callgrind --callgrind-out-file="$folder/out" "$program" "$1" "$2" \
    2>"$folder/log") || fail "the call did not succeed: $(tail -n 3 "$folder/log")"
  instructions=$(awk '/^summary:|^totals:/ { print $2; exit }' "$folder/out")
}

compiler=$(${SWIFT:-swift} --version 2>/dev/null | sed -n 's/.*Swift version \([0-9.]*\).*/\1/p' | head -n 1)
machine="Swift $compiler, $(uname -m)"
strangers=20000

count 0 0
idle_packets=$packets idle_instructions=$instructions
count 0 "$strangers"
dropped=$(((instructions - idle_instructions) / strangers))
count 5 0
each=$(((instructions - idle_instructions) / (packets - idle_packets)))
printf '%s instructions for each of %s packets (%s)\n' "$each" "$((packets - idle_packets))" "$machine"
printf '%s instructions for each dropped datagram of a stranger\n' "$dropped"

if [[ ${1:-} == --record ]]; then
  {
    [[ ! -e $baseline ]] || grep -v -e "^$machine: " -e "^$machine, dropped: " "$baseline" || true
    printf '%s: %s\n' "$machine" "$each"
    printf '%s, dropped: %s\n' "$machine" "$dropped"
  } >"$folder/baseline"
  cp "$folder/baseline" "$baseline"
  exit 0
fi

# compare NUMBER KEY WHAT
compare() {
  local known=
  [[ ! -e $baseline ]] || known=$(sed -n "s/^$2: //p" "$baseline")
  if [[ -z $known ]]; then
    printf 'There is no baseline for %s with this compiler and architecture; scripts/instructions.sh --record adds it.\n' "$3"
  elif (($1 * 100 > known * (100 + bound))); then
    fail "$1 instructions for $3 are more than $bound % above $known ($baseline)."
  fi
}
compare "$each" "$machine" "each packet"
compare "$dropped" "$machine, dropped" "each dropped datagram"
