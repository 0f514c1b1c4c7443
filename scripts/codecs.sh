#!/bin/bash
# Fails where a codec is named that should be asked for its properties: a call carries more codecs in time, and code that takes
# "VP8" for "video" compiles with each of them and does wrong. What differs between codecs is a row of the table in
# Sources/Media/CodecProperties.swift, or a case of a switch without `default:` in the files below, so that the compiler
# points at each place that a new codec needs.
#
# Usage: scripts/codecs.sh [FOLDER]     FOLDER has the sources, Sources by default
set -euo pipefail
cd "$(dirname "$0")/.."

sources=${1:-Sources}
failed=0

# Where codecs are at home: the program that decodes and its messages, bitstreams, payload formats, wrappers of libraries, the table, and the parsing of a frame's header.
home='chatbot-media/.*|MediaMessages/.*|Bitstream/.*|Codecs/.*|RTP/PayloadFormats/.*|PeerEngine/Payloads/.*|Media/Bitstreams/.*|Media/(Codec|CodecProperties|FrameHeader|WaveFormat)\.swift'

# Files that may name a codec, with the reason.
reasons=(
  'SDP/CodecParameters\.swift'              # which codecs have parameters of their own in SDP
  'FileSource/Reading/OggReader\.swift'      # reads Ogg files of one codec only
  'LiveSource/Encoding/LiveAudioEncoder\.swift' # an encoder of one codec
  'Recorder/Matroska/CodecPrivate\.swift'    # writes the codec's private data
  'Recorder/Manifest/CodecProfile\.swift'    # names the profile by the codec's bitstream
  'Recorder/Ogg/OggOpusWriter\.swift'        # writes Ogg files of one codec only
  'Composition/Options/OutputFormat(\+Parsing)?\.swift' # says which codecs each container of an output holds
)
allowed=$home$(printf '|%s' "${reasons[@]}")

# The cases of `Codec`, for example opus|vp8.
names=$(sed -n '/enum Codec:/,/^}/s/^  case \([a-z0-9]*\)$/\1/p' "$sources/Media/Codec.swift" | paste -sd '|')
[[ -n $names ]] || {
  printf 'codecs.sh: %s/Media/Codec.swift has no cases.\n' "$sources" >&2
  exit 2
}
# A case by its name, as in `.vp8` or `Codec.vp8`, but neither the property `frame.opus` nor the ending of a file name in quotes.
case="(^|[^]A-Za-z0-9_\")?!]|\bCodec)\.($names)\b"

# lines REGEX: prints FILE:NUMBER:TEXT of the lines that match, without those of comments. FILE is relative to the sources.
lines() {
  (cd "$sources" && grep -rnE "$1" --include='*.swift' . | sed 's|^\./||' | grep -vE '^[^:]*:[0-9]+: *//' || true)
}

# refuse SENTENCE: fails if there is input, lines FILE:NUMBER:TEXT.
refuse() {
  local found
  found=$(LC_ALL=C sort)
  [[ -n $found ]] || return 0
  printf '%s\n%s\n' "$1" "$found"
  failed=1
}

refuse "A codec is named where its properties or its kind are meant; scripts/codecs.sh lists the files that may:" < <(
  lines "$case" | grep -vE "^($allowed):" || true)

refuse "A comparison with a codec stands for something else: ask the codec's kind or a property, or switch over all codecs:" < <(
  lines "(==|!=|\?) *(Codec)?\.($names)\b|\b(if|guard|while|for)( .*,)? case \.($names)\b" | grep -vE '^Media/Codec(Properties)?\.swift:' || true)

refuse "A switch over codecs has a case for each, and no default:" < <(
  cd "$sources" && find . -name '*.swift' | sed 's|^\./||' | while read -r file; do
    awk -v file="$file" '
      { indent = match($0, /[^ ]/) - 1 }
      !inside && /switch ([A-Za-z0-9_.]*\.)?([a-z]*[cC]odec|callCodec) \{$/ { inside = 1; depth = indent; next }
      inside && indent == depth && /^ *default:/ { printf "%s:%d:%s\n", file, FNR, $0 }
      inside && indent == depth && /^ *\}/ { inside = 0 }' "$file"
  done)

# The files outside of its own that name a codec of video, or a type of it: what the next codec touches, too. Those that are named after it
# are its own. Encoders are left out: a call needs none. What was there before the seam was, is not counted.
maximum=6
for codec in ${names//|/ }; do
  [[ $codec =~ ^(av1|h265)$ ]] || continue
  touched=$(lines "(^|[^]A-Za-z0-9_\")?!]|\b(Codec|VideoCodec|MediaCodec|TrackCodec))\.$codec\b|\bcase ([a-z0-9]+, )*$codec\b|\b${codec^^}[A-Z][A-Za-z]*" |
    cut -d: -f1 | sort -u | grep -viE "(^|/)$codec[A-Za-z0-9+]*\.swift$|(^|/)$codec/|^(chatbot-media/Composition|Composition/)" || true)
  [[ $(grep -c . <<<"$touched") -le $maximum ]] ||
    refuse "More than $maximum files name $codec outside of its own; docs/architecture.md says which they are:" <<<"$touched"
done

# A file that is listed without need would hide the next name in it.
for file in "${reasons[@]}"; do
  lines "$case" | grep -qE "^$file:" || refuse "scripts/codecs.sh lists a file that names no codec:" <<<"${file//\\/}"
done

exit $failed
