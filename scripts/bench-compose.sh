#!/bin/bash
# Measures how fast calls are composed, and what that costs, beside one ffmpeg with scale, xstack and x264 `veryfast` that does the same
# with the same recordings in the same run, as a table. The recordings are synthetic (Benchmarks/Compositions): users of VP8, 640x480 at
# 30 frames a second and 1 Mb/s, with Opus. The output is H.264 of 1280x720 at 30 frames a second, with AAC.
#
# Fails if four users are composed less than 2.4 times as fast as the call, nine less than 2.0 times, or with more than 1.25 times the CPU
# time of ffmpeg; if a user who shows only a name tile costs 1 % of a core or more; if the first part takes longer than 60 s of output at
# that speed; if a process does not have niceness 10; if more than 600 MiB are used; or if a recorder beside it loses a frame.
#
# The table is printed and stored in Benchmarks/compositions.md. Nothing else should run meanwhile.
#
# Usage: scripts/bench-compose.sh
#   BENCH_SECONDS=90    the length of each call
#   BENCH_RUNS=2        how often each measurement is repeated; the fastest one counts
#   BINDIR=FOLDER       measures chatbot and chatbot-media of this folder, and makes recordings with its record-call
#   RESULTS=FILE        where the table is stored
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/children.sh

seconds=${BENCH_SECONDS:-90}
runs=${BENCH_RUNS:-2}
results=${RESULTS:-Benchmarks/compositions.md}
bin=${BINDIR:-}
status=0

say() { printf '%s\n' "$*" >&2; }

# misses SENTENCE: says which bound is missed.
misses() {
  say "bench-compose.sh: $*"
  status=1
}

# number EXPRESSION: calculates.
number() { awk "BEGIN { printf \"%.3f\", $1 }"; }

holds() { awk "BEGIN { exit !($1) }"; }

scripts/install-debian-packages.sh build bench
if [[ -z $bin ]]; then
  say "Building the program (the first time takes some minutes)."
  scripts/build.sh programs install >&2
  bin=$(scripts/build.sh install --show-bin-path)
  scripts/build.sh build --product record-call >&2
  recorded=$(scripts/build.sh build --show-bin-path)/record-call
else
  recorded=$bin/record-call
fi
program=$bin/chatbot

# columns USERS: the columns and rows of the grid.
columns() { case $1 in 4) echo 2 2 ;; 9) echo 3 3 ;; *) echo 4 4 ;; esac; }

# reference USERS FOLDER FILE: sets command to that of ffmpeg.
reference() {
  local columns rows width height graph="" layout="" index file inputs=()
  read -r columns rows <<<"$(columns "$1")"
  width=$(((1280 - 4 * (columns - 1)) / columns / 2 * 2)) height=$(((720 - 4 * (rows - 1)) / rows / 2 * 2))
  index=0
  for file in "$2"/*.webm; do
    inputs+=(-i "$file")
    graph+="[$index:v]fps=30,scale=$width:$height:force_original_aspect_ratio=decrease:force_divisible_by=2,"
    graph+="pad=$width:$height:(ow-iw)/2:(oh-ih)/2[v$index];"
    layout+="|$((index % columns * (width + 4)))_$((index / columns * (height + 4)))"
    index=$((index + 1))
  done
  for ((file = 0; file < index; file++)); do graph+="[v$file]"; done
  graph+="xstack=inputs=$index:layout=${layout#|}:fill=black,pad=1280:720[v];"
  for ((file = 0; file < index; file++)); do graph+="[$file:a]"; done
  graph+="amix=inputs=$index:normalize=0[a]"
  command=(nice -n 10 ffmpeg -hide_banner -loglevel error -nostdin -y "${inputs[@]}" -filter_complex "$graph" -map "[v]" -map "[a]"
    -c:v libx264 -preset veryfast -crf 23 -g 60 -c:a aac -b:a 128k -ac 2 -movflags +faststart "$3")
}

# measure FILE OPTIONS-OF-measure.py -- COMMAND...: sets passed, cpu, memory, highest, lowest and first to those of the fastest run.
measure() {
  local file=$1 options=() run code
  shift
  while [[ $1 != -- ]]; do
    options+=("$1")
    shift
  done
  shift
  passed=999999
  for ((run = 0; run < runs; run++)); do
    rm -rf "$file" "$file.parts"
    local line new_passed new_cpu new_memory new_highest new_lowest new_first
    line=$(timeout 1800 python3 Benchmarks/Compositions/measure.py "${options[@]}" "$@" 2>"$folder/command.log") || fail "$1 failed."
    read -r code new_passed new_cpu new_memory new_highest new_lowest new_first <<<"$line"
    [[ $code -eq 0 ]] || fail "$1 ended with $code."
    if holds "$new_passed < $passed"; then
      passed=$new_passed cpu=$new_cpu memory=$new_memory highest=$new_highest lowest=$new_lowest first=$new_first
    fi
  done
}

declare -A speed_of cost_of
# compare NAME USERS LEAST-SPEED: measures a call of cameras, composed and by ffmpeg, and prints a row.
compare() {
  local recordings=$folder/$1 theirs their_cpu ratio
  "$recorded" "$1" "$recordings" "$seconds" || fail "the recordings of $1 could not be made."
  measure "$folder/$1.mp4" --first-part "$folder/$1.mp4.parts" -- "$program" compose "$recordings" -o "$folder/$1.mp4"
  local ours=$passed our_cpu=$cpu our_memory=$memory our_first=$first nice="$lowest to $highest"
  speed_of[$1]=$(number "$seconds / $ours") cost_of[$1]=$(number "$our_cpu / $seconds")
  reference "$2" "$recordings" "$folder/$1-reference.mp4"
  measure "$folder/$1-reference.mp4" -- "${command[@]}"
  theirs=$(number "$seconds / $passed") their_cpu=$(number "$cpu / $seconds")
  ratio=$(number "${cost_of[$1]} / $their_cpu")
  printf '| %d | %.2f | %.2f | %.3f | %.3f | %.2f | %s | %s | %s |\n' "$2" "${speed_of[$1]}" "$theirs" "${cost_of[$1]}" "$their_cpu" \
    "$ratio" "$our_memory" "$our_first" "$3" | tee -a "$folder/table"
  holds "${speed_of[$1]} >= $3" || misses "$2 users are composed ${speed_of[$1]} times as fast as the call, less than $3 times."
  holds "$ratio <= 1.25" || misses "$2 users cost $ratio times the CPU time of ffmpeg, more than 1.25 times."
  holds "$our_memory <= 600" || misses "$2 users need $our_memory MiB."
  [[ $nice == "10 to 10" ]] || misses "the niceness is $nice."
  if [[ $our_first != - ]]; then
    holds "$our_first <= 60 / ${speed_of[$1]} * 1.15" || misses "the first part of $2 users took $our_first s."
  elif ((seconds > 60)); then
    misses "no first part of $2 users was seen."
  fi
}

# beside: composes the call of four beside a recorder of four users, and sets lost.
beside() {
  local port=4500 server recorder load compose out=$folder/beside tries
  while listens $port; do port=$((port + 1)); done
  start server.log "$program" serve --port $port --quiet
  server=$!
  for ((tries = 0; tries < 100; tries++)); do
    listens $port && break
    sleep 0.1
  done
  start recorder.log "$program" --server "ws://127.0.0.1:$port" --room bench --record "$out" --bind-address 127.0.0.1 --quiet
  recorder=$!
  start load.log "$program" load --server "ws://127.0.0.1:$port" --room bench --publishers 4 --play samples/test.webm \
    --bind-address 127.0.0.1
  load=$!
  sleep 4
  rm -rf "$folder/beside.mp4" "$folder/beside.mp4.parts"
  start compose.log "$program" compose "$folder/four" -o "$folder/beside.mp4"
  compose=$!
  sleep 20
  kill -TERM $load 2>/dev/null || true
  sleep 1
  kill -TERM $recorder 2>/dev/null || true
  for ((tries = 0; tries < 200; tries++)); do
    kill -0 $recorder 2>/dev/null || break
    sleep 0.1
  done
  kill -KILL $compose $server 2>/dev/null || true
  wait $compose $server 2>/dev/null || true
  rm -f "$out"/*.session.json
  [[ $(ls "$out"/*.json | wc -l) -eq 4 ]] || fail "the recorder did not record four users."
  # Frames that were not complete, and those for which there was no time or memory.
  lost=$(cat "$out"/*.json | awk '$1 == "\"dropped\"" || $1 == "\"framesDropped\"" { sub(",", "", $3); n += $3 } END { print n + 0 }')
  frames=$(cat "$out"/*.json | awk '$1 == "\"frames\"" && $3 ~ /^[0-9]+,?$/ { sub(",", "", $3); n += $3 } END { print n + 0 }')
}

model=$(awk -F ': ' '/^model name/ { print $2; exit }' /proc/cpuinfo)
load_before=$(cut -d ' ' -f 1-3 /proc/loadavg)
printf '| users | speed | of ffmpeg | CPU time for each second | of ffmpeg | ratio | memory in MiB | first part after s | least speed |\n' | tee "$folder/table"
printf '|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n' | tee -a "$folder/table"
compare four 4 2.4
compare nine 9 2.0

say "Sixteen users, of whom four have a camera ..."
"$recorded" sixteen "$folder/sixteen" "$seconds" || fail "the recordings of sixteen could not be made."
# The cameras stand in the same places in both, and the others are shown only in the second.
cameras='"user-0", "user-1", "user-2", "user-3"'
printf '{ "regions": [{ "width": 640, "users": [%s] }] }\n' "$cameras" >"$folder/cameras.json"
printf '{ "regions": [{ "width": 640, "users": [%s] }, { "x": 640, "exclude": [%s] }] }\n' "$cameras" "$cameras" >"$folder/all.json"
measure "$folder/sixteen.mp4" -- "$program" compose "$folder/sixteen" -o "$folder/sixteen.mp4" --layout "$folder/cameras.json"
without=$cpu
measure "$folder/sixteen.mp4" -- "$program" compose "$folder/sixteen" -o "$folder/sixteen.mp4" --layout "$folder/all.json"
name_tile=$(number "100 * ($cpu - $without) / $seconds / 12")
holds "$name_tile < 1" || misses "a user who shows a name tile costs $name_tile % of a core."
say "A recorder beside a composition ..."
beside
[[ $lost -eq 0 ]] || misses "a recorder beside a composition lost $lost frames."

{
  printf '# Speed and cost of compositions\n\n'
  printf '%s, %s, %d processors, %s GiB; %s; load before: %s.\n' "$(date -u +%F)" "$model" "$(nproc)" \
    "$(awk '/^MemTotal:/ { printf "%.0f", $2 / 1048576 }' /proc/meminfo)" "$(uname -sr)" "$load_before"
  printf 'Command: `BENCH_SECONDS=%s BENCH_RUNS=%s scripts/bench-compose.sh`; %s.\n\n' "$seconds" "$runs" "$("$program" --version)"
  printf 'Users of VP8, 640x480 at 30 frames a second and 1 Mb/s with Opus become H.264 of 1280x720 with AAC, in a grid. Speed is the length of the '
  printf 'call divided by the time that passed; CPU time is that of all processes, in seconds for each second of the call. `of ffmpeg` is one '
  printf '`ffmpeg` with `scale`, `xstack` and x264 `veryfast`, in the same run.\n\n'
  cat "$folder/table"
  printf '\n| figure | measured | bound |\n|:--|--:|--:|\n'
  printf '| a user who shows only a name tile, of a core (12 beside 4 cameras, and hidden) | %.2f %% | 1 %% |\n' "$name_tile"
  printf '| frames that a recorder of four users beside it lost | %s of %s | 0 |\n' "$lost" "$frames"
} >"$folder/results.md"
cat "$folder/results.md"
cp "$folder/results.md" "$results"
exit $status
