#!/bin/bash
# Measures the cost of recording and publishing: CPU time and memory for each user, next to the floor (Benchmarks/floor.c),
# as a table. `chatbot load` runs the publishers in its own process. Each user sends 1 Mb/s of VP8, 640x480 at 30 frames a
# second, and Opus: about 170 packets a second. The script fails if a frame is lost with `--verify off` at any number of
# users, and if the publishers do not keep up: with fewer packets than expected everything costs less.
#
# A third measurement relays all users through coturn, which runs beside the publishers and whose own time does not count. The
# script fails if a relayed user of several costs more than 1.3 times a direct one.
#
# Further tables have users who send H.264, H.265 or AV1 instead. The script fails if such a user of several costs more than 1.1 times a
# user of VP8 with `--verify off`, or if decoding in the processes of chatbot-media costs more than 1.4 times what ffmpeg needs for the
# same frames with one thread. What is compared is alike:
#
# - The video of each codec has the same number of frames and keyframes as that of VP8, and as many bits within 1 %.
# - It is sent as it is stored: the manifests must name the codec.
# - The script fails if the users send 10 % more or fewer packets.
# - VP8 and the codec are measured in turns, twice each, and the lower of two counts, because the measurements vary by up to 20 %.
#
# Exact numbers, of instructions and not of times: scripts/instructions.sh.
#
# The table is printed and stored in Benchmarks/results.md with the machine, the date and the command. The receiver of
# the floor, and the recorder with `--verify off`, run on the first processor alone; with decoding the recorder uses all
# processors. The publishers run on the others.
#
# Usage: scripts/bench.sh [USERS...]      1 10 50 100 by default
#   BENCH_SECONDS=20    the time of each measurement, after all are connected
#   BENCH_PROGRAM=FILE  measures this program instead of building the one that `make install` installs
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/children.sh

users=("${@:-1 10 50 100}")
read -ra users <<<"${users[*]}"
seconds=${BENCH_SECONDS:-20}
ticks=$(getconf CLK_TCK)

say() { printf '%s\n' "$*" >&2; }

# stop PROCESS: sends SIGTERM and waits for at most 30 s.
stop() {
  local tries
  kill -TERM "$1" 2>/dev/null || true
  for ((tries = 0; tries < 300; tries++)); do
    kill -0 "$1" 2>/dev/null || break
    sleep 0.1
  done
  kill -KILL "$1" 2>/dev/null || true
  wait "$1" 2>/dev/null || true
}

# memory PROCESS: its resident memory in KiB.
memory() { awk '/^VmRSS:/ { print $2 }' "/proc/$1/status"; }

clock() { date +%s.%N; }

# share TICKS SECONDS USERS: the CPU time of each user in percent of one core.
share() { awk -v t="$1" -v s="$2" -v n="$3" -v hz="$ticks" 'BEGIN { printf "%.3f", 100 * t / hz / s / n }'; }

# total FIELD FILE...: the sum of an integer field over all tracks of manifests.
total() {
  local field=$1
  shift
  cat "$@" | awk -v f="\"$field\"" '$1 == f && $3 ~ /^[0-9]+,?$/ { sub(",", "", $3); n += $3 } END { print n + 0 }'
}

# media FILE...: the packets and bits of each second of a user's recording, from the manifests.
media() {
  awk 'FNR == 1 { tracks = 0 }
    /^  "duration" :/ { seconds += $3 }
    /^  "tracks" :/ { tracks = 1 }
    tracks && $1 == "\"bytes\"" { bits += 8 * $3 }
    tracks && $1 == "\"sent\"" { packets += $3 }
    END { if (seconds > 0) print packets / seconds, bits / seconds; else print 0, 0 }' "$@"
}

# carried: the bytes received on the loopback interface so far.
carried() { cat /sys/class/net/lo/statistics/rx_bytes; }

# The overhead of each packet: the headers of Ethernet, IPv4, UDP and RTP, its extensions, and the SRTP tag.
overhead=82

# Creates a file with 1 Mb/s and a keyframe each second: the moving test card of the sample at a fixed bitrate.
make_sample() {
  timeout 120 ffmpeg -hide_banner -loglevel error -nostdin -y \
    -f lavfi -i "testsrc2=size=640x480:rate=30:duration=10,noise=alls=6:allf=t,format=yuv420p" \
    -f lavfi -i "aevalsrc=exprs='0.3*sin(2*PI*440*t)':sample_rate=48000:channel_layout=mono:duration=10,atrim=end_sample=479688" \
    -af asetpts=N+312 -c:v libvpx -b:v 1000k -minrate 1000k -maxrate 1000k -bufsize 1000k -deadline realtime -cpu-used 8 \
    -auto-alt-ref 0 -lag-in-frames 0 -g 30 -keyint_min 30 -c:a libopus -b:a 64k -vbr off -frame_duration 20 \
    -f webm "$1" || fail "ffmpeg could not create the file for the publishers."
}

# video_bits FILE: the bits of all frames of its video.
video_bits() {
  ffprobe -v error -select_streams v -show_entries packet=size -of csv=p=0 "$1" | awk -F , '{ n += 8 * $1 } END { print n }'
}

# encode_sample CODEC FILE RATE: creates the same with another codec and a bitrate in kb/s.
encode_sample() {
  local options container=matroska
  case $1 in
    h264) options=(-c:v libx264 -profile:v baseline -preset veryfast -sc_threshold 0) ;;
    h265) options=(-c:v libx265 -preset veryfast -x265-params "bframes=0:scenecut=0:open-gop=0:log-level=none") ;;
    av1) options=(-c:v libaom-av1 -usage realtime -cpu-used 8 -lag-in-frames 0) container=webm ;;
  esac
  timeout 300 ffmpeg -hide_banner -loglevel error -nostdin -y \
    -f lavfi -i "testsrc2=size=640x480:rate=30:duration=10,noise=alls=6:allf=t,format=yuv420p" -i "$sample" -map 0:v -map 1:a \
    "${options[@]}" -b:v "$3k" -minrate "$3k" -maxrate "$3k" -bufsize "$3k" -g 30 -keyint_min 30 -c:a copy -f $container "$2" \
    || fail "ffmpeg could not create the file of $1."
}

# make_codec_sample CODEC FILE STREAM: creates a file with as many bits as the sample of VP8, and its video alone. Encoders miss the
# bitrate that they are given by some percent.
make_codec_sample() {
  local rate=1000 wanted bits
  wanted=$(video_bits "$sample")
  for _ in 1 2 3 4; do
    encode_sample "$1" "$2" "$rate"
    bits=$(video_bits "$2")
    if ((bits * 100 >= wanted * 99 && bits * 100 <= wanted * 101)); then break; fi
    rate=$((rate * wanted / bits))
  done
  awk -v a="$bits" -v b="$wanted" 'BEGIN { exit !(a < 1.03 * b && a > 0.97 * b) }' \
    || fail "the file of $1 has $bits bits of video, and that of VP8 $wanted."
  timeout 60 ffmpeg -hide_banner -loglevel error -nostdin -y -i "$2" -map 0:v -c:v copy -f "${codec_stream[$1]}" "$3"
}

# ffmpeg_cost FILE: what ffmpeg needs to decode 30 frames a second, in percent of one core: the least of three times.
ffmpeg_cost() {
  local best=999999 before after shell=$BASHPID frames=300
  for _ in 1 2 3; do
    before=$(ended_children "$shell")
    for _ in 1 2 3 4 5; do
      "${first_processor[@]}" timeout 60 ffmpeg -hide_banner -loglevel error -nostdin -threads 1 -i "$1" -f null - || return 1
    done
    after=$(ended_children "$shell")
    if ((after - before < best)); then best=$((after - before)); fi
  done
  awk -v t="$best" -v hz="$ticks" -v f=$((frames * 5)) 'BEGIN { printf "%.3f", 100 * 30 * t / hz / f }'
}

# ended_children PROCESS: the CPU time of those that have ended, in ticks (proc(5), fields 16 and 17).
ended_children() { sed 's/.*) //' "/proc/$1/stat" | awk '{ print $14 + $15 }'; }

# all_cpu PROCESS: its CPU time, with that of the processes that decode for it.
all_cpu() {
  local sum child grandchild
  sum=$(cpu "$1")
  for child in $(cat "/proc/$1/task/"*/children); do
    sum=$((sum + $(cpu "$child")))
    for grandchild in $(cat "/proc/$child/task/"*/children); do sum=$((sum + $(cpu "$grandchild"))); done
  done
  printf '%s' "$sum"
}

# measure_floor USERS: sets floor_cpu and floor_lost, and sender_floor, the cost of sending.
measure_floor() {
  local receiver sender before after began ended sent_before sent_after
  start floor.log "${first_processor[@]}" "$folder/floor" receive "$floor_port" "$folder/floor.bin"
  receiver=$!
  start sender.log "${other_processors[@]}" "$folder/floor" send "$floor_port" "$1"
  sender=$!
  sleep 3
  before=$(cpu $receiver) sent_before=$(cpu $sender) began=$(clock)
  sleep "$seconds"
  after=$(cpu $receiver) sent_after=$(cpu $sender) ended=$(clock)
  stop $sender
  stop $receiver
  rm -f "$folder/floor.bin"
  floor_cpu=$(share $((after - before)) "$(awk "BEGIN { print $ended - $began }")" "$1")
  sender_floor=$(share $((sent_after - sent_before)) "$(awk "BEGIN { print $ended - $began }")" "$1")
  floor_lost=$(awk '{ print $3 }' "$folder/floor.log")
}

# measure USERS on|off [OPTION...]: measures a recorder with `--verify on` or off and other options; sets recorder_cpu, recorder_memory, publisher_cpu, publisher_memory, frames, frames_lost,
# packets_lost, packet_rate, the number of packets that a publisher sent each second, and media_rate, those of each second of its media.
# `sample` is played, whose codec is `sample_codec`.
measure() {
  local room="bench-$1-$2" out="$folder/recordings-$1-$2" recorder load idle tries
  local before after load_before load_after began ended span packets bits share_sent carried_before carried_after
  local place=("${first_processor[@]}") times_carried=1
  [[ $2 == off ]] || place=()
  room+=-$sample_codec
  if [[ $# -gt 2 ]]; then times_carried=2 room+=-relayed; fi
  start recorder.log "${place[@]}" "$program" --room "$room" --record "$out" --verify "$2" --server "$server" \
    --bind-address 127.0.0.1 --log-level warning "${@:3}"
  recorder=$!
  sleep 1.5
  idle=$(memory $recorder)
  start load.log "${other_processors[@]}" "$program" load --room "$room" --publishers "$1" --play "$sample" --send-codec "$sample_codec" \
    --server "$server" --bind-address 127.0.0.1 --json
  load=$!
  for ((tries = 0; tries < 600; tries++)); do
    grep -q "connected\.$" "$folder/load.log" && break
    kill -0 $load 2>/dev/null || fail "the publishers ended at once."
    sleep 0.1
  done
  [[ $tries -lt 600 ]] || fail "not all of $1 publishers were connected within 60 s."
  sleep 5
  before=$(all_cpu $recorder) load_before=$(cpu $load) carried_before=$(carried) began=$(clock)
  sleep "$seconds"
  after=$(all_cpu $recorder) load_after=$(cpu $load) carried_after=$(carried) ended=$(clock)
  recorder_memory=$(awk -v a="$(memory $recorder)" -v b="$idle" -v n="$1" 'BEGIN { printf "%.2f", (a - b) / 1024 / n }')
  publisher_memory=$(awk -v a="$(memory $load)" -v n="$1" 'BEGIN { printf "%.2f", a / 1024 / n }')
  stop $load
  stop $recorder
  # The summary of the call is no manifest.
  rm -f "$out"/*.session.json
  span=$(awk "BEGIN { print $ended - $began }")
  recorder_cpu=$(share $((after - before)) "$span" "$1")
  publisher_cpu=$(share $((load_after - load_before)) "$span" "$1")
  grep -q '"finished" : true' "$out"/*.json || fail "a recording of $1 users was not finished."
  [[ $(grep -l '"finished" : true' "$out"/*.json | wc -l) -eq $1 ]] || fail "there are not $1 finished recordings."
  # Otherwise the publishers would encode the file while they play it.
  [[ $(grep -lE "^ *\"codec\" : \"$sample_codec\"" "$out"/*.json | wc -l) -eq $1 ]] || fail "not all of $1 users sent $sample_codec."
  # A late publisher still sends every frame, so the measure is how much of a second's media was sent within a second.
  read -r packets bits <<<"$(media "$out"/*.json)"
  share_sent=$(awk -v sent="$((carried_after - carried_before))" -v s="$span" -v n="$1" -v p="$packets" -v bits="$bits" \
    -v o="$overhead" -v t=$times_carried 'BEGIN { printf "%.3f", sent / s / n / t / (bits / 8 + p * o + 1) }')
  packet_rate=$(awk -v p="$packets" -v s="$share_sent" 'BEGIN { printf "%.0f", p * s }')
  media_rate=$(awk -v p="$packets" 'BEGIN { printf "%.0f", p }')
  awk -v s="$share_sent" 'BEGIN { exit !(s >= 0.95) }' \
    || fail "$1 publishers sent only $packet_rate packets a second each instead of $packets: they do not keep up."
  packets_lost=$(total lost "$out"/*.json)
  frames_lost=$(total dropped "$out"/*.json)
  frames=$(total frames "$out"/*.json)
  verified=$(awk -v u="$(total unverified "$out"/*.json)" -v f="$frames" 'BEGIN { printf "%.0f %%", (f > 0) ? 100 * (f - u) / f : 0 }')
  rm -rf "$out"
}

scripts/install-debian-packages.sh build bench
first_processor=() other_processors=()
allowed=$(awk '/^Cpus_allowed_list:/ { print $2 }' /proc/self/status)
if (($(nproc) > 1)); then
  first=${allowed%%[-,]*}
  first_processor=(taskset --cpu-list "$first")
  # Remove the first number from the list: "0-3" becomes "1-3", "4,6" becomes "6".
  case $allowed in
    "$first"-*) others=$((first + 1))${allowed#"$first"} ;;
    *) others=${allowed#*,} ;;
  esac
  other_processors=(taskset --cpu-list "$others")
fi
program=${BENCH_PROGRAM:-}
if [[ -z $program ]]; then
  say "Building the program (the first time takes some minutes)."
  scripts/build.sh programs install >&2
  program=$(scripts/build.sh install --show-bin-path)/chatbot
fi
# shellcheck disable=SC2046 # The flags must be split.
cc -O2 -o "$folder/floor" Benchmarks/floor.c $(pkg-config --cflags --libs libsrtp2)
# The codecs: the file that is played; and of the further tables the name, and ffmpeg's format of video alone.
codecs=(h264 h265 av1)
declare -A codec_name=([h264]=H.264 [h265]=H.265 [av1]=AV1)
declare -A codec_stream=([h264]=h264 [h265]=hevc [av1]=obu)
declare -A codec_file=([vp8]="$folder/user.webm" [h264]="$folder/h264.mkv" [h265]="$folder/h265.mkv" [av1]="$folder/av1.webm")

# choose CODEC: has the publishers send its file.
choose() { sample_codec=$1 sample=${codec_file[$1]}; }

choose vp8
make_sample "$sample"
for codec in "${codecs[@]}"; do make_codec_sample "$codec" "${codec_file[$codec]}" "$folder/$codec.stream"; done

port=4300
while listens $port; do port=$((port + 2)); done
floor_port=$((port + 1))
server=ws://127.0.0.1:$port
start server.log "$program" serve --port $port --users-per-room 1001 --quiet
for ((tries = 0; tries < 100; tries++)); do
  listens $port && break
  sleep 0.1
done

# A TURN server on the loopback interface.
turn_port=$((port + 1000))
start coturn.log "${other_processors[@]}" turnserver -n --no-cli --log-file stdout --no-tls --no-dtls --allow-loopback-peers \
  --listening-ip 127.0.0.1 --relay-ip 127.0.0.1 --listening-port $turn_port --lt-cred-mech --user bench:bench --realm bench \
  --userdb "$folder/turn.db" --pidfile "$folder/turn.pid"
for ((tries = 0; tries < 100; tries++)); do
  listens $turn_port && break
  sleep 0.1
done
relayed=(--ice-server "turn:bench:bench@127.0.0.1:$turn_port" --ice-transport-policy relay)
# The most that a relayed user of several may cost, as a multiple of a direct one.
relay_bound=1.3

bits=$(($(wc -c <"$sample") * 8 / 10000))
model=$(awk -F ': ' '/^model name/ { print $2; exit }' /proc/cpuinfo)

# times A B: A as a multiple of B.
times() { awk -v a="$1" -v b="$2" 'BEGIN { if (b > 0) printf "%.2fx", a / b; else printf "-" }'; }

{
  printf '# Cost of recording and publishing\n\n'
  printf '%s, %s, %d processors, %s GiB; %s.\n' "$(date -u +%F)" "$model" "$(nproc)" \
    "$(awk '/^MemTotal:/ { printf "%.0f", $2 / 1048576 }' /proc/meminfo)" "$(uname -sr)"
  printf 'Command: `scripts/bench.sh %s`; %d s each, %d kb/s a user; load before: %s.\n\n' "${users[*]}" "$seconds" "$bits" \
    "$(cut -d ' ' -f 1-3 /proc/loadavg)"
  printf 'CPU time of each user in percent of one processor, and as a multiple of the floor; memory of each user beyond an empty recorder, in MiB.\n\n'
  printf '`relayed` is the same as `recorded`, but through a TURN server, and as a multiple of that.\n\n'
  printf '| %5s | %6s | %16s | %16s | %24s | %11s | %12s | %16s | %9s | %s |\n' users floor 'recorded' 'relayed' \
    'and decoded, share' 'memory' 'sender floor' 'publisher' 'packets/s' 'lost without decoding'
  printf '|%s\n' '------:|-------:|-----------------:|-----------------:|-------------------------:|------------:|-------------:|-----------------:|----------:|:--|'
} | tee "$folder/results.md"
status=0
for count in "${users[@]}"; do
  say "$count users ..."
  measure_floor "$count"
  measure "$count" off
  off=$recorder_cpu off_memory=$recorder_memory publisher=$publisher_cpu
  lost="$frames_lost of $frames frames, $packets_lost packets"
  if [[ $frames_lost -ne 0 || $packets_lost -ne 0 ]]; then status=1; fi
  measure "$count" off "${relayed[@]}"
  relayed_cpu=$recorder_cpu
  if [[ $frames_lost -ne 0 ]]; then status=1 lost+="; relayed: $frames_lost of $frames frames"; fi
  if ((count > 1)) && awk -v a="$relayed_cpu" -v b="$off" -v m=$relay_bound 'BEGIN { exit !(a > m * b) }'; then
    say "$count relayed users cost more than $relay_bound times as much as direct ones."
    status=1
  fi
  measure "$count" on
  printf '| %5d | %6s | %8s (%5s) | %8s (%5s) | %8s (%5s), %6s | %11s | %12s | %8s (%5s) | %9s | %s |\n' "$count" "$floor_cpu" \
    "$off" "$(times "$off" "$floor_cpu")" "$relayed_cpu" "$(times "$relayed_cpu" "$off")" "$recorder_cpu" "$(times "$recorder_cpu" "$floor_cpu")" "$verified" "$off_memory" \
    "$sender_floor" "$publisher" "$(times "$publisher" "$sender_floor")" "$packet_rate" "$lost" | tee -a "$folder/results.md"
  [[ $floor_lost -eq 0 ]] || say "The floor itself lost $floor_lost packets."
done

# The most that a user of another codec may cost, of several, as a multiple of one of VP8, and its decoding, as a multiple of ffmpeg's.
codec_bound=1.1 decoding_bound=1.4

# lower A B: the lower of two numbers; B if A is empty.
lower() { awk -v a="$1" -v b="$2" 'BEGIN { print (a != "" && a + 0 < b + 0) ? a : b }'; }

# measure_codec CODEC: writes the table of a codec.
measure_codec() {
  local name=${codec_name[$1]} ffmpeg count cost vp8_cost lost decoding packets vp8_packets turn
  ffmpeg=$(ffmpeg_cost "$folder/$1.stream")
  {
    printf '\nThe same with %s. `recorded` is also given as a multiple of VP8, which was measured in turns with it. ' "$name"
    printf '`decoding` is what a user costs more with verification, and as a multiple of the time of '
    printf '`ffmpeg -threads 1 -f null -` for the same frames, %s %%. Packets: of VP8, and of %s.\n\n' "$ffmpeg" "$name"
    printf '| %5s | %7s | %16s | %24s | %16s | %11s | %s |\n' users VP8 recorded 'and decoded, share' decoding 'packets/s' \
      'lost without decoding'
    printf '|%s\n' '------:|--------:|-----------------:|-------------------------:|-----------------:|------------:|:--|'
  } | tee -a "$folder/results.md"
  for count in "${users[@]}"; do
    # There are 64 processes that decode, and no more.
    if ((count > 64)); then continue; fi
    say "$count users of $name ..."
    cost='' vp8_cost=''
    for turn in 1 2; do
      choose vp8
      measure "$count" off
      vp8_cost=$(lower "$vp8_cost" "$recorder_cpu") vp8_packets=$media_rate
      choose "$1"
      measure "$count" off
      cost=$(lower "$cost" "$recorder_cpu") packets=$media_rate
      lost="$frames_lost of $frames frames, $packets_lost packets"
      if [[ $frames_lost -ne 0 || $packets_lost -ne 0 ]]; then
        status=1
        say "$lost of $name were lost in turn $turn."
      fi
    done
    if ((packets * 100 > vp8_packets * 110 || packets * 100 < vp8_packets * 90)); then
      fail "a user of $name sends $packets packets a second, and one of VP8 $vp8_packets: their costs cannot be compared."
    fi
    measure "$count" on
    decoding=$(awk -v on="$recorder_cpu" -v off="$cost" 'BEGIN { printf "%.3f", on - off }')
    printf '| %5d | %7s | %8s (%5s) | %16s, %6s | %8s (%5s) | %4s, %5s | %s |\n' "$count" "$vp8_cost" "$cost" \
      "$(times "$cost" "$vp8_cost")" "$recorder_cpu" "$verified" "$decoding" "$(times "$decoding" "$ffmpeg")" "$vp8_packets" \
      "$packets" "$lost" | tee -a "$folder/results.md"
    if ((count > 1)) && awk -v a="$cost" -v b="$vp8_cost" -v m=$codec_bound 'BEGIN { exit !(a > m * b) }'; then
      say "$count users of $name cost more than $codec_bound times as much as users of VP8."
      status=1
    fi
    if awk -v a="$decoding" -v b="$ffmpeg" -v m=$decoding_bound 'BEGIN { exit !(a > m * b) }'; then
      say "Decoding $count users of $name costs more than $decoding_bound times as much as ffmpeg."
      status=1
    fi
  done
}
for codec in "${codecs[@]}"; do measure_codec "$codec"; done
cp "$folder/results.md" Benchmarks/results.md
exit $status
