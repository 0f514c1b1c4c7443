#!/bin/sh
# Makes samples/test.webm: ten seconds of a moving picture with a running clock, and on each full second a beep and a
# white flash that begin together. Needs ffmpeg with libvpx, libopus and libfreetype, and DejaVu Sans Mono
# (Debian: ffmpeg, fonts-dejavu-core).
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
  echo "make-test.sh: the font $font is not there; try: apt-get install fonts-dejavu-core" >&2
  exit 1
fi

# The picture: ffmpeg's moving test card; a clock with milliseconds and the frame's number; below them a lamp, black
# but for the first two frames of each second.
picture="testsrc2=size=640x480:rate=30:duration=10,
  drawbox=x=100:y=150:w=440:h=110:color=black@0.75:t=fill,
  drawtext=fontfile=$font:fontsize=48:fontcolor=white:x=(w-text_w)/2-14:y=165:text='%{pts\\:hms}',
  drawtext=fontfile=$font:fontsize=22:fontcolor=white:x=(w-text_w)/2:y=226:text='frame %{frame_num}',
  drawbox=x=120:y=300:w=400:h=120:color=black:t=fill,
  drawbox=x=120:y=300:w=400:h=120:color=white:t=fill:enable='lt(mod(n,30),2)',
  format=yuv420p"

# The sound: 1 kHz for the same two frames' time. It is 312 samples short of ten seconds, because libopus puts 312
# samples in front of it: so the packets make ten seconds sharp, 500 of 20 ms, and the file loops without a seam.
# ffmpeg's WebM writer forgets that a block's time includes that delay (CodecDelay), hence the 312 added to the times.
sound="aevalsrc=exprs='0.5*sin(2*PI*1000*t)*lt(mod(t,1),2/30)':sample_rate=48000:channel_layout=mono,
  atrim=end_sample=479688"

# One keyframe a second, so that a viewer who joins late waits a second at most. No alternate reference frames: each
# frame is shown. One thread and no date or version in the file, so that it comes out the same on each run.
ffmpeg -hide_banner -loglevel error -nostdin -y \
  -f lavfi -i "$picture" -f lavfi -i "$sound" \
  -map 0:v -map 1:a -af asetpts=N+312 -map_metadata -1 -fflags +bitexact -flags:v +bitexact -flags:a +bitexact \
  -c:v libvpx -b:v 1200k -maxrate 1500k -bufsize 1500k -deadline good -cpu-used 1 -threads 1 \
  -auto-alt-ref 0 -lag-in-frames 0 -g 30 -keyint_min 30 \
  -c:a libopus -b:a 64k -frame_duration 20 -application audio \
  -f webm "$output"

echo "$output: $(wc -c <"$output") bytes"
