#!/bin/bash
# Builds the documentation of the libraries as one archive, with swift-docc-plugin. Warnings are errors.
#
# Usage: scripts/docs.sh FOLDER
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$1
# A product's module comes after those that its documentation refers to.
modules=(
  Media Signalling SCTP PeerEngine NetworkEmulation FaultInjection BotPeer Room Load Recorder FileSource LiveSource CallCheck
  CallReport RoomMessages Call Inspection HTTPTransport SkyRTC SocketIO Firestore WHIP Janus ExecSignalling RoomServer
)

# The plugin builds a target as `scripts/build.sh build` does; a build of all that came before takes no time.
scripts/build.sh build >&2
targets=()
for module in "${modules[@]}"; do targets+=(--target "$module"); done
mkdir -p "$folder"
archive=$(realpath "$folder")/chatbot.doccarchive
rm -rf "$archive"
"${SWIFT:-swift}" package --configuration release -Xswiftc -enable-testing --allow-writing-to-directory "$(dirname "$archive")" \
  generate-documentation --enable-experimental-combined-documentation "${targets[@]}" --output-path "$archive" \
  --warnings-as-errors
printf 'The documentation is in %s.\n' "$archive"
