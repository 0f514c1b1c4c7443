#!/bin/bash
# Measures a recorder that gets half of the CPU time that it needs. Publishers fill a room. The recorder runs on the
# first processor, and after some seconds shares it with busy programs that leave it half of its need. Then these end.
# Prints the losses with their reasons. Fails if a reason other than this machine is reported, if audio is lost, if the
# recorder ends, or if anything is missing more than 5 s after the busy programs ended. Needs two processors.
#
# Usage: scripts/overload.sh [USERS]      60 by default
#   OVERLOAD_SECONDS=60    the time for which the processor is shared
#   BENCH_PROGRAM=FILE     measures this program instead of building the one that `make install` installs
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/children.sh

users=${1:-60}
seconds=${OVERLOAD_SECONDS:-60}

# share PROCESS SECONDS: the CPU time of a process during that time, in percent of a processor.
share() {
  local before after began ended
  before=$(cpu "$1") began=$(date +%s.%N)
  sleep "$2"
  after=$(cpu "$1") ended=$(date +%s.%N)
  awk -v t="$((after - before))" -v s="$(awk "BEGIN { print $ended - $began }")" -v hz="$(getconf CLK_TCK)" \
    'BEGIN { printf "%.1f", 100 * t / hz / s }'
}

(($(nproc) > 1)) || fail "two processors are needed, one for the recorder and one for the publishers."
scripts/install-debian-packages.sh build
program=${BENCH_PROGRAM:-}
if [[ -z $program ]]; then
  scripts/build.sh install --product chatbot >&2
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
start recorder.log sh -c '"$@"; echo "exit code $?"' sh taskset --cpu-list "$first" "$program" --room overload --record "$folder/out" --verify off \
  --server "$server" --bind-address 127.0.0.1 --log-level warning
sleep 1.5
recorder=$(pgrep --parent $! | head -n 1)
start load.log taskset --cpu-list "$others" "$program" load --room overload --publishers "$users" --play samples/test.webm \
  --server "$server" --bind-address 127.0.0.1 --json
load=$!
for ((tries = 0; tries < 600; tries++)); do
  ! grep -q 'connected\.$' "$folder/load.log" || break
  sleep 0.1
done
((tries < 600)) || fail "not all of $users publishers were connected within 60 s."
sleep 5
need=$(share $recorder 10)
# Two threads of the recorder compete, and each gets as much time as one of the busy programs.
loops=$(awk -v need="$need" 'BEGIN { n = 400 / need - 2; n = int(n) + (n > int(n)); print (n < 1) ? 1 : n }')

busy=()
for ((number = 0; number < loops; number++)); do
  start "busy.log" taskset --cpu-list "$first" sh -c 'while :; do :; done'
  busy+=($!)
done
had=$(share $recorder "$seconds")
memory=$(awk '/^VmHWM:/ { print int($2 / 1024) }' "/proc/$recorder/status")
kill -KILL "${busy[@]}"
wait "${busy[@]}" 2>/dev/null || true
ended=$(date +%s.%N)
sleep 15
kill -0 $recorder 2>/dev/null || fail "the recorder ended by itself."
kill -TERM $recorder
for ((tries = 0; tries < 300; tries++)); do
  kill -0 $recorder 2>/dev/null || break
  sleep 0.1
done
kill -TERM $load 2>/dev/null || true

for manifest in "$folder"/out/*.json; do
  # The start of the recording, then the manifest.
  date -d "$(awk -F '"' '$2 == "start" && NF > 4 { print $4; exit }' "$manifest")" '+begin %s.%N'
  cat "$manifest"
done | awk -v ended="$ended" -v users="$users" '
  function number(text) { sub(/,$/, "", text); return text + 0 }
  $1 == "begin" { beginning = $2; files++ }
  $1 == "\"gaps\"" { isGap = 1; missing = 0 }
  # Keys are in alphabetical order: a gap is complete at its "start", and a track at its "sent".
  isGap && $1 == "\"frames\"" { missing = number($3) }
  isGap && $1 == "\"packets\"" { given = number($3); missing += given }
  isGap && $1 == "\"reason\"" { reason = $3; gsub(/[",]/, "", reason) }
  isGap && $1 == "\"start\"" {
    # A frame without a lost packet was cut off by the end of the call.
    if (missing > 0 && (given > 0 || reason != "lost")) { count[reason]++; sum[reason] += missing; if (beginning + number($3) > ended + 5) late++ }
    missing = 0
  }
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
    printf "%d of the gaps began more than 5 s after the busy programs ended\n", late
    for (reason in count) if (reason != "overloaded" && reason != "waitingForKeyframe") bad = 1
    exit bad || late > 0 || absent["audio"] > 0 || files != users
  }' && verdict=0 || verdict=1
printf 'The recorder needs %s %% of a processor; with %d busy programs it got %s %% for %s s. Peak memory %s MiB, %s.\n' \
  "$need" "$loops" "$had" "$seconds" "$memory" "$(tail -n 1 "$folder/recorder.log")"
exit $verdict
