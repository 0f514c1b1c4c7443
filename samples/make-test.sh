#!/bin/sh
# Creates samples/test.webm: ten seconds of moving video with a running clock, and on each full second a beep and a
# white flash that begin together. Needs ffmpeg with libvpx, libopus and libfreetype, and DejaVu Sans Mono (Debian:
# ffmpeg, fonts-dejavu-core).
#
# Usage: samples/make-test.sh [FILE]
set -eu

here=$(cd "$(dirname "$0")" && pwd)
output=${1:-"$here/test.webm"}
font=${FONT:-/usr/share/fonts/truetype/dejavu/DejaVuSansMono-Bold.ttf}

if ! command -v ffmpeg >/dev/null; then
  echo "make-test.sh: ffmpeg is not installed; try: apt-get install ffmpeg" >&2
  exit 1
fi
if [ ! -r "$font" ]; then
  echo "make-test.sh: the font $font does not exist; try: apt-get install fonts-dejavu-core" >&2
  exit 1
fi

# The video: ffmpeg's moving test card; a clock with milliseconds and the frame's number; below them a lamp, which is
# white in the first two frames of each second and black otherwise.
picture="testsrc2=size=640x480:rate=30:duration=10,
  drawbox=x=100:y=150:w=440:h=110:color=black@0.75:t=fill,
  drawtext=fontfile=$font:fontsize=48:fontcolor=white:x=(w-text_w)/2-14:y=165:text='%{pts\\:hms}',
  drawtext=fontfile=$font:fontsize=22:fontcolor=white:x=(w-text_w)/2:y=226:text='frame %{frame_num}',
  drawbox=x=120:y=300:w=400:h=120:color=black:t=fill,
  drawbox=x=120:y=300:w=400:h=120:color=white:t=fill:enable='lt(mod(n,30),2)',
  format=yuv420p"

# The audio: 1 kHz during the same two frames. It is 312 samples shorter than ten seconds, because libopus adds 312
# samples before it: the packets are then exactly ten seconds, 500 of 20 ms, and the file loops seamlessly. ffmpeg's
# WebM writer does not include that delay (CodecDelay) in a block's time, hence the 312 added to the times.
sound="aevalsrc=exprs='0.5*sin(2*PI*1000*t)*lt(mod(t,1),2/30)':sample_rate=48000:channel_layout=mono,
  atrim=end_sample=479688"

# One keyframe each second, so that a late viewer waits at most a second. No alternate reference frames: each frame is
# shown. One thread and no date or version in the file, so that every run creates the same bytes.
ffmpeg -hide_banner -loglevel error -nostdin -y \
  -f lavfi -i "$picture" -f lavfi -i "$sound" \
  -map 0:v -map 1:a -af asetpts=N+312 -map_metadata -1 -fflags +bitexact -flags:v +bitexact -flags:a +bitexact \
  -c:v libvpx -b:v 1200k -maxrate 1500k -bufsize 1500k -deadline good -cpu-used 1 -threads 1 \
  -auto-alt-ref 0 -lag-in-frames 0 -g 30 -keyint_min 30 \
  -c:a libopus -b:a 64k -frame_duration 20 -application audio \
  -f webm "$output"

echo "$output: $(wc -c <"$output") bytes"
