#!/bin/bash
# Measures what a recorder loses when it has too little, and why.
#
# Without arguments: a recorder of 60 users that gets half of the CPU time that it needs. Publishers fill a room. The
# recorder runs on the first processor, and after some seconds shares it with busy programs that leave it half of its
# need. Then these end. Fails if a reason other than the processor is reported, if audio is lost, if the recorder ends, or
# if anything is missing more than 5 s after the busy programs ended.
#
# With numbers of users: for each, a recorder that has the first processor for itself, and publishers on the others.
# Prints CPU time, memory, and what is missing with its causes. Fails if anything is missing.
#
# Needs two processors.
#
# Usage: scripts/overload.sh [USERS...]
#   OVERLOAD_SECONDS=N     the time for which the processor is shared (60), or that is measured for each number (20)
#   OVERLOAD_PLAY=FILE     what the publishers send; samples/test.webm by default, about 200 packets and 1.3 Mb/s each
#   OVERLOAD_RAMP=RATE     publishers that join each second, 50/s by default
#   OVERLOAD_OPTIONS=TEXT  further options of the recorder, like "--queue-memory 32MiB"
#   BENCH_PROGRAM=FILE     measures this program instead of building the one that `make install` installs
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/children.sh

play=${OVERLOAD_PLAY:-samples/test.webm}
ramp=${OVERLOAD_RAMP:-50/s}
read -ra options <<<"${OVERLOAD_OPTIONS:-}"

# share TICKS SECONDS: CPU time in percent of a processor.
share() { awk -v t="$1" -v s="$2" -v hz="$(getconf CLK_TCK)" 'BEGIN { printf "%.1f", 100 * t / hz / s }'; }

clock() { date +%s.%N; }

# since MOMENT: the seconds since then.
since() { awk -v a="$1" -v b="$(clock)" 'BEGIN { print b - a }'; }

# use PROCESS SECONDS: the CPU time of a process during that time, in percent of a processor.
use() {
  local before began
  before=$(cpu "$1") began=$(clock)
  sleep "$2"
  share $(($(cpu "$1") - before)) "$(since "$began")"
}

# peak PROCESS: the maximum of its resident memory in MiB.
peak() { awk '/^VmHWM:/ { print int($2 / 1024) }' "/proc/$1/status"; }

# await PROCESS: waits for its end, 30 s at most.
await() {
  local tries
  for ((tries = 0; tries < 300; tries++)); do
    kill -0 "$1" 2>/dev/null || break
    sleep 0.1
  done
}

# open_room USERS: starts the recorder and the publishers, and waits until all are connected. Sets `recorder` and `load`.
open_room() {
  local tries
  rm -rf "$folder/out"
  start recorder.log sh -c '"$@"; echo "exit code $?"' sh taskset --cpu-list "$first" "$program" --room "overload-$1" \
    --record "$folder/out" --verify off --max-users "$1" --server "$server" --bind-address 127.0.0.1 --log-level warning \
    "${options[@]}"
  sleep 1.5
  recorder=$(pgrep --parent $! | head -n 1)
  children+=("$recorder")
  start load.log taskset --cpu-list "$others" "$program" load --room "overload-$1" --publishers "$1" --play "$play" \
    --ramp "$ramp" --server "$server" --bind-address 127.0.0.1 --json
  load=$!
  for ((tries = 0; tries < 600; tries++)); do
    ! grep -q 'connected\.$' "$folder/load.log" || break
    sleep 0.1
  done
  ((tries < 600)) || fail "not all of $1 publishers were connected within 60 s."
}

# losses ENDED USERS: prints what the manifests say is missing. Fails if there are not that many, or for what the usage says.
#
# ENDED is when the busy programs ended, in seconds since 1970, or "never" if there are none: then nothing may be missing.
losses() {
  local manifest
  for manifest in "$folder"/out/*.json; do
    [[ $manifest != *.session.json ]] || continue
    # The start of the recording, then the manifest.
    date -d "$(awk -F '"' '$2 == "start" && NF > 4 { print $4; exit }' "$manifest")" '+begin %s.%N'
    cat "$manifest"
  done | awk -v ended="$1" -v users="$2" '
    function number(text) { sub(/,$/, "", text); return text + 0 }
    $1 == "begin" { beginning = $2; files++ }
    $1 == "\"gaps\"" { isGap = 1; missing = 0 }
    # Keys are in alphabetical order: a gap is complete at its "start", and a track at its "sent".
    isGap && $1 == "\"frames\"" { missing = number($3) }
    isGap && $1 == "\"packets\"" { given = number($3); missing += given }
    isGap && $1 == "\"reason\"" { reason = $3; gsub(/[",]/, "", reason) }
    isGap && $1 == "\"start\"" {
      # A frame without a lost packet was given up by its sender.
      if (missing > 0 && (given > 0 || reason != "lost")) { count[reason]++; sum[reason] += missing; if (beginning + number($3) > ended + 5) late++ }
      missing = 0
    }
    $1 == "\"source\"" { source = $3; gsub(/[",]/, "", source); alignments[source]++ }
    $1 == "\"dropped\"" { dropped = number($3); frames = "" }
    !isGap && frames == "" && $1 == "\"frames\"" { frames = number($3) }
    $1 == "\"kind\"" && $3 ~ /audio|video/ { kind = ($3 ~ /audio/) ? "audio" : "video"; isGap = 0 }
    $1 == "\"lost\"" { lost = number($3) }
    $1 == "\"sent\"" {
      packets[kind] += number($3); absent[kind] += lost; all[kind] += frames + dropped; unwritten[kind] += dropped
      part = (frames + dropped > 0) ? 100 * dropped / (frames + dropped) : 0
      if (kind == "video") { if (part > most) most = part; if (least == "" || part < least) least = part }
    }
    END {
      for (kind in packets) printf "%s: %d of %d packets and %d of %d frames are missing\n", \
        kind, absent[kind], packets[kind], unwritten[kind], all[kind]
      printf "%.1f to %.1f %% of the video frames of each user are missing\n", least, most
      for (reason in count) printf "%s: %d gaps with %d packets and frames\n", reason, count[reason], sum[reason]
      for (source in alignments) printf "aligned by %s: %d\n", source, alignments[source]
      if (files != users) { printf "%d recordings in place of %d\n", files, users; exit 1 }
      if (ended == "never") exit length(count) > 0
      printf "%d of the gaps began more than 5 s after the busy programs ended\n", late
      for (reason in count) if (reason != "overloaded" && reason != "waitingForKeyframe") bad = 1
      exit bad || late > 0 || absent["audio"] > 0
    }'
}

# measure_half USERS: a recorder with half of the CPU time that it needs.
measure_half() {
  local need loops busy number had memory ended verdict=0
  open_room "$1"
  sleep 5
  need=$(use "$recorder" 10)
  # Two threads of the recorder compete, and each gets as much time as one of the busy programs.
  loops=$(awk -v need="$need" 'BEGIN { n = 400 / need - 2; n = int(n) + (n > int(n)); print (n < 1) ? 1 : n }')

  busy=()
  for ((number = 0; number < loops; number++)); do
    start "busy.log" taskset --cpu-list "$first" sh -c 'while :; do :; done'
    busy+=($!)
  done
  had=$(use "$recorder" "${OVERLOAD_SECONDS:-60}")
  memory=$(peak "$recorder")
  kill -KILL "${busy[@]}"
  wait "${busy[@]}" 2>/dev/null || true
  ended=$(clock)
  sleep 15
  kill -0 "$recorder" 2>/dev/null || fail "the recorder ended by itself."
  kill -TERM "$recorder"
  await "$recorder"
  kill -TERM "$load" 2>/dev/null || true
  losses "$ended" "$1" || verdict=1
  printf 'The recorder needs %s %% of a processor; with %d busy programs it got %s %% for %s s. Peak memory %s MiB, %s.\n' \
    "$need" "$loops" "$had" "${OVERLOAD_SECONDS:-60}" "$memory" "$(tail -n 1 "$folder/recorder.log")"
  return $verdict
}

# measure_room USERS: a recorder with a processor for itself.
measure_room() {
  local before load_before began seconds used sent memory verdict=0
  printf '\n%d users\n' "$1"
  open_room "$1"
  sleep 5
  before=$(cpu "$recorder") load_before=$(cpu "$load") began=$(clock)
  sleep "${OVERLOAD_SECONDS:-20}"
  seconds=$(since "$began")
  used=$(share $(($(cpu "$recorder") - before)) "$seconds") sent=$(share $(($(cpu "$load") - load_before)) "$seconds")
  memory=$(peak "$recorder")
  # The publishers end first, so that no frame is cut off by the recorder's end.
  kill -TERM "$load"
  await "$load"
  sleep 1
  kill -TERM "$recorder"
  await "$recorder"
  losses never "$1" || verdict=1
  awk '$1 == "\"lateness\"" { sub(/,$/, "", $3); printf "99 %% of the frames were sent at most %s ms late\n", $3 }' \
    "$folder/load.log"
  printf 'CPU: recorder %s %%, publishers %s %%. Peak memory of the recorder %s MiB, %s.\n' \
    "$used" "$sent" "$memory" "$(tail -n 1 "$folder/recorder.log")"
  sed '$d' "$folder/recorder.log" | cut -d ' ' -f 2- | sort | uniq -c | sort -rn | head -n 5
  return $verdict
}

(($(nproc) > 1)) || fail "two processors are needed, one for the recorder and one for the publishers."
program=${BENCH_PROGRAM:-}
if [[ -z $program ]]; then
  scripts/install-debian-packages.sh build
  scripts/build.sh programs install >&2
  program=$(scripts/build.sh install --show-bin-path)/chatbot
fi
read -r first others < <(awk '/^Cpus_allowed_list:/ {
  first = $2; sub(/[-,].*/, "", first); rest = $2
  if (rest ~ "^" first "-") sub(first, first + 1, rest); else sub(first ",", "", rest)
  print first, rest }' /proc/self/status)

port=4700
while listens $port; do port=$((port + 1)); done
server=ws://127.0.0.1:$port
start server.log taskset --cpu-list "$others" "$program" serve --port "$port" --users-per-room 1001 --quiet
sleep 1

if (($# == 0)); then
  measure_half 60 && verdict=0 || verdict=1
else
  verdict=0
  for count in "$@"; do measure_room "$count" || verdict=1; done
fi
exit $verdict
