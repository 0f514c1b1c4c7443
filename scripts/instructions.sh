#!/bin/bash
# Counts the instructions for each received and recorded RTP packet, of sender and receiver together, and for each datagram of a
# stranger that is dropped after it was read. callgrind counts them in a call that is the same each time
# (Benchmarks/Instructions). Fails if a number is more than 5 % above that in Benchmarks/instructions.txt for this compiler and
# processor architecture; without an entry the number is only printed.
#
# Also counts what a second of a recorded user needs, without the work of the senders, with each codec of video. Frames of all codecs have the
# same sizes. Fails if H.264, H.265 or AV1 needs more than 1.1 times as many instructions as VP8.
#
# Usage: scripts/instructions.sh [--record]     --record writes the file
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
  printf 'instructions.sh: %s\n' "$*" >&2
  exit 1
}

bound=5
# In percent of VP8.
codec_bound=110
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

# Functions of Publisher.swift, in which all the work of the senders is.
senders='PublisherC(10sendFrames|15receiveDatagram|10pollSender).*F$'

# measure CODEC SECONDS DATAGRAMS: writes the packets, the frames, all instructions and those without the senders to a file.
measure() {
  local out=$folder/$1.$2.$3 counted
  counted=$(timeout 300 valgrind --quiet --tool=callgrind --callgrind-out-file="$out" "$program" "$2" "$3" "$1" 2>"$out.log") \
    || fail "the call did not succeed: $(tail -n 3 "$out.log")"
  # What is called is named in a line `cfn=`, with its name only the first time; its instructions are in the line after `calls=`.
  awk -v counted="$counted" -v senders="$senders" '
    /^c?fn=/ {
      id = name = $0
      sub(/^c?fn=/, "", id); sub(/\).*/, "", id)
      sub(/^[^)]*\) */, "", name)
      if (name != "") isSender[id] = name ~ senders
      if (/^cfn=/) called = id
    }
    /^calls=/ { getline; if (isSender[called]) { sent += $2; calls += 1 } }
    /^(summary|totals):/ { all = $2 }
    END { print counted, all, all - sent; exit !(calls > 0) }' "$out" >"$out.counts" || fail "the senders are not in the profile."
}

# count CODEC SECONDS DATAGRAMS: sets packets, frames, instructions and recorded from what was measured.
count() { read -r packets frames instructions recorded <"$folder/$1.$2.$3.counts"; }

compiler=$(${SWIFT:-swift} --version 2>/dev/null | sed -n 's/.*Swift version \([0-9.]*\).*/\1/p' | head -n 1)
machine="Swift $compiler, $(uname -m)"
strangers=20000

users=4 seconds=5 codecs=(vp8 h264 h265 av1)
# At the same time, because each uses one processor.
measuring=()
start() { measure "$@" & measuring+=($!); }
start vp8 0 0
start vp8 0 "$strangers"
for codec in "${codecs[@]}"; do start "$codec" "$seconds" 0; done
failed=0
for process in "${measuring[@]}"; do wait "$process" || failed=1; done
((failed == 0)) || exit 1

count vp8 0 0
idle_packets=$packets idle_instructions=$instructions idle_recorded=$recorded
count vp8 0 "$strangers"
dropped=$(((instructions - idle_instructions) / strangers))
count vp8 "$seconds" 0
each=$(((instructions - idle_instructions) / (packets - idle_packets)))
printf '%s instructions for each of %s packets (%s)\n' "$each" "$((packets - idle_packets))" "$machine"
printf '%s instructions for each dropped datagram of a stranger\n' "$dropped"

printf 'A second of a recorded user:\n'
printf '%6s %8s %8s %13s %13s %8s\n' codec packets frames instructions 'each packet' 'of VP8'
expensive=
for codec in "${codecs[@]}"; do
  count "$codec" "$seconds" 0
  packets=$((packets - idle_packets)) recorded=$(((recorded - idle_recorded) / users / seconds))
  [[ $codec != vp8 ]] || vp8_frames=$frames vp8_recorded=$recorded
  [[ $frames -eq $vp8_frames ]] || fail "there are $frames frames of $codec, and $vp8_frames of VP8."
  printf '%6s %8s %8s %13s %13s %8s\n' "$codec" "$((packets / users / seconds))" "$((frames / users / seconds))" "$recorded" \
    "$((recorded * users * seconds / packets))" "$(awk -v a="$recorded" -v b="$vp8_recorded" 'BEGIN { printf "%.3f", a / b }')"
  if ((recorded * 100 > vp8_recorded * codec_bound)); then expensive+=" $codec"; fi
done
[[ -z $expensive ]] || fail "more than $codec_bound % of what VP8 needs:$expensive."

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
