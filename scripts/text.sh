#!/bin/bash
# Fails where text from outside could be compared as a Swift string, which takes seconds for text with many combining marks:
# see `UntrustedText` in Sources/Media. Such text becomes a string in few places, and is decoded as `UntrustedText` or
# `ASCIIText`.
#
# Usage: scripts/text.sh
set -euo pipefail
cd "$(dirname "$0")/.."

modules=(Signalling SkyRTC SocketIO Firestore Janus WHIP ExecSignalling HTTPTransport DataMessages RoomMessages SCTP ICE RTP SDP PeerEngine)
sources=()
for module in "${modules[@]}"; do sources+=("Sources/$module"); done
failed=0

# refuse SENTENCE: fails if there is input, lines FILE:NUMBER:TEXT.
refuse() {
  local found
  found=$(cat)
  [[ -n $found ]] || return 0
  printf '%s\n%s\n' "$1" "$found"
  failed=1
}

# allow REGEX: removes the lines of files that match.
allow() { grep -vE "^($1):" || true; }

# The two that are allowed read files whose text was checked before.
refuse "JSON from outside is decoded by JSONReader only:" < <(
  grep -rnE 'JSONDecoder\(|JSONSerialization' Sources --include='*.swift' |
    allow 'Sources/(JSON/JSONReader|Recorder/Manifest/RecordingManifest\+JSON|CallCheck/JSON/CheckReport\+JSON)\.swift')

refuse "Texts in messages are decoded as UntrustedText or ASCIIText:" < <(
  grep -rnE 'decode(IfPresent)?\(\[?String\]?\.self' "${sources[@]}" --include='*.swift' || true)

refuse "A type that is decoded without an init(from:) of its own has no String:" < <(
  grep -rLE 'init\(from decoder' "${sources[@]}" --include='*.swift' | grep -v '^Sources/SkyRTC/Messages/WireMessage.swift$' |
    grep -v '^Sources/Firestore/Credentials/ServiceAccountKey.swift$' | LC_ALL=C sort | while read -r file; do
    awk -v file="$file" '
      /(struct|enum) .*: .*(Decodable|Codable)/ { inside = 1; depth = 0 }
      inside {
        if ($0 ~ /(let|var) [A-Za-z0-9]+: \[?String/) printf "%s:%d:%s\n", file, FNR, $0
        depth += gsub(/\{/, "{") - gsub(/\}/, "}")
        if (depth <= 0) inside = 0
      }' "$file"
  done)

refuse "The string of a text from outside is handed on or parsed by its bytes, not compared:" < <(
  grep -rnE '\.string\??(\.(hasPrefix|hasSuffix|count|lowercased|uppercased|contains|split|first|last|reversed|firstIndex|lastIndex|dropFirst|dropLast|sorted)\b| (==|!=|<|>) )|switch [^{]*\.string \{' Sources --include='*.swift' || true)

# Each of these files makes strings of bytes that are ASCII or ours, or that nobody compares.
refuse "Bytes from outside become an UntrustedText, or a String in the files that scripts/text.sh names:" < <(
  grep -rnE 'String\((decoding|validating|buffer):|(read|get)String\(' "${sources[@]}" --include='*.swift' |
    allow "$(tr '\n' '|' <<'FILES' | sed 's/|$//'
Sources/SkyRTC/(Server/ConnectionRegistry|Server/RequestRules|Rooms/ParticipantIdentity|Messages/WireMessage|Client/SkyRTCClient).swift
Sources/SocketIO/Packets/(EngineIOPayload|JSONValue.SocketIO|SocketIOPacket).swift
Sources/Firestore/(Documents/FirestorePath|Credentials/FirestoreCredentials).swift
Sources/Janus/(Messages/JanusRequest|Client/JanusClient).swift
Sources/WHIP/Server/(TokenList|WHIPServer.Responses|WHIPPath).swift
Sources/WHIP/(Formats/BearerToken|Formats/WebLink|Client/WHIPSession.Responses).swift
Sources/HTTPTransport/(WebSocket/WebSocketAssembler|HTTP/HTTPMessages).swift
Sources/DataMessages/(Files/SHA256Hash|Files/FileSender|Messages/JSONText).swift
Sources/RoomMessages/Files/ReceivedFileFolder.swift
Sources/SCTP/(Packets/ErrorCause|DataChannels/DataChannelMessage|DataChannels/DataChannelControlMessage).swift
Sources/ICE/STUN/(STUNMessage.Attributes|STUNMessage).swift
Sources/ICE/(MDNS/DNSReader|Gathering/ICEServerURL|Values/IPAddress.Text|TURN/TURNCredentials).swift
Sources/RTP/(Extensions/RTPHeaderExtensions.Typed|RTCP/SourceDescription|RTCP/Goodbye).swift
FILES
    )")

exit $failed
