#!/bin/bash
# Shows the whole path once: a bot starts the embedded SkyRTC server and plays samples/test.webm into a room, a second
# bot records it for 10 s, and ffmpeg decodes the recording. Exits with 0 only if the recording is correct.
#
# Usage: scripts/demo.sh PROGRAM
set -euo pipefail
cd "$(dirname "$0")/.."

program=$1
sample=samples/test.webm
seconds=10
folder=out/demo-$(date +%Y%m%d-%H%M%S)-$$
children=()

say() { printf '%s\n' "$*"; }

fail() {
  printf '\nThe demo failed: %s\n' "$*" >&2
  local log
  for log in "$folder"/*.log; do
    [[ -s $log ]] || continue
    printf '\n%s ends with:\n' "$log" >&2
    tail -n 15 "$log" >&2
  done
  exit 1
}

# Sends SIGTERM to all children, and SIGKILL to those that still run after 5 s.
clean_up() {
  local status=$? id tries
  trap - EXIT INT TERM
  for id in "${children[@]}"; do kill -TERM "$id" 2>/dev/null || true; done
  for id in "${children[@]}"; do
    for ((tries = 0; tries < 50; tries++)); do
      kill -0 "$id" 2>/dev/null || break
      sleep 0.1
    done
    kill -KILL "$id" 2>/dev/null || true
    wait "$id" 2>/dev/null || true
  done
  exit "$status"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# start LOG ARGUMENT...: starts the program in the background; $! is its process id.
start() {
  local log=$1
  shift
  "$program" "$@" >"$folder/$log" 2>&1 </dev/null &
  children+=($!)
}

listens() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# await_port PORT PROCESS WHAT: waits until a program listens on the port.
await_port() {
  local tries
  for ((tries = 0; tries < 100; tries++)); do
    listens "$1" && return
    kill -0 "$2" 2>/dev/null || fail "$3 ended at once."
    sleep 0.1
  done
  fail "$3 did not listen on port $1 within 10 s."
}

# Prints a number with this many decimals: round 2 9.998 prints 10.00.
round() { LC_ALL=C printf "%.$1f" "$2"; }

mkdir -p "$folder"

# The player itself starts the embedded server if no program listens on port 3000. If that port is in use, the demo
# leaves that program alone and starts a server on another port.
server=()
port=3000
if listens $port; then
  while listens $port; do port=$((port + 1)); done
  say "Port 3000 is in use, so the demo's server uses port $port."
  start server.log serve --port $port
  await_port $port $! "the server"
  server=(--server "ws://127.0.0.1:$port")
fi

say "1. A bot plays $sample in a loop in room \"demo\"."
start player.log --room demo --play "$sample" --loop "${server[@]}"
player=$!
await_port $port $player "the player"

say "2. Another bot records that room for $seconds s."
timeout --kill-after=5 60 "$program" --room demo --record "$folder" --duration ${seconds}s "${server[@]}" \
  >"$folder/recorder.log" 2>&1 </dev/null || fail "the recorder ended with exit code $?."
ended=$(date +%s.%N)
kill -0 $player 2>/dev/null || fail "the player did not stay until the end."

say "3. ffmpeg decodes the recording."
shopt -s nullglob
recordings=("$folder"/*.webm)
[[ ${#recordings[@]} -eq 1 ]] || fail "one .webm was expected in $folder, but there are ${#recordings[@]}."
webm=${recordings[0]}
ogg=${webm%.webm}.ogg
manifest=${webm%.webm}.json
for file in "$ogg" "$manifest"; do [[ -s $file ]] || fail "$file is missing."; done

for file in "$webm" "$ogg"; do
  errors=$(timeout 60 ffmpeg -nostdin -v error -i "$file" -enc_time_base -1 -f null - 2>&1) || fail "ffmpeg cannot decode $file: $errors"
  [[ -z $errors ]] || fail "ffmpeg reports errors in $file: $errors"
done

# probe FILE SELECTION ENTRY: prints a value of a file, read by ffprobe.
probe() { timeout 60 ffprobe -v error -count_packets -select_streams "$2" -show_entries "$3" -of csv=p=0 "$1"; }

duration=$(probe "$webm" v format=duration)
codecs=$(probe "$webm" v stream=codec_name),$(probe "$webm" a stream=codec_name)
[[ $codecs == vp8,opus ]] || fail "$webm should contain VP8 and Opus, but contains $codecs."
size=$(probe "$webm" v stream=width,height | tr , x)
frames=$(probe "$webm" v stream=nb_read_packets)
packets=$(probe "$webm" a stream=nb_read_packets)
sound=$(probe "$ogg" a format=duration)

# The expected duration: from the first frame, by the wall clock in the manifest, to the end of the recorder.
first=$(sed -n 's/^ *"start" *: *"\([^"]*\)".*/\1/p' "$manifest" | sed -n 1p)
expected=$(echo "$ended $(date --date="$first" +%s.%N)" | awk '{ print $1 - $2 }')

holds() { awk "BEGIN { exit !($1) }"; }
holds "$expected > $seconds - 2" ||
  fail "the first frame arrived only $(round 2 "$expected") s before the end of a recording of $seconds s."

# A late joiner receives the frames since the last keyframe, but no earlier audio: the Ogg begins that much later.
later=$(awk '/"kind" *: *"ogg"/ { isOgg = 1 } isOgg && /"start"/ { gsub(/[^0-9.]/, ""); print; exit }' "$manifest")
[[ -n $later ]] || fail "$manifest does not contain the start of the Ogg."

# check_length FILE DURATION EXPECTED
check_length() {
  holds "$2 > 0.97 * $3 && $2 < 1.03 * $3" ||
    fail "$1 lasts $(round 2 "$2") s instead of $(round 2 "$3") s, which is more than 3 % off."
}
check_length "$webm" "$duration" "$expected"
check_length "$ogg" "$sound" "$(echo "$expected $later" | awk '{ print $1 - $2 }')"
rate=$(echo "$frames $duration" | awk '{ print $1 / $2 }')
holds "$rate >= 24" || fail "$webm has $(round 1 "$rate") frames a second, but should have at least 24."

say
say "The recording is correct. It is in $folder:"
say "  ${webm##*/}: $(round 2 "$duration") s; VP8 $size, $frames frames, $(round 1 "$rate") a second; Opus, $packets packets"
say "  ${ogg##*/}: $(round 2 "$sound") s; Opus"
say "  ${manifest##*/}: the manifest, with the counts of received and lost packets"
