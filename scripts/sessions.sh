#!/bin/bash
# Fails where the events of a signalling client are read outside of the module Room: a `RoomSession` acts on them, in the same way
# for every program.
#
# Usage: scripts/sessions.sh
set -euo pipefail
cd "$(dirname "$0")/.."

found=$(grep -rnE 'for await .* in .*[cC]lient\.events|peer\.receive\(event\)' Sources Examples README.md docs \
  --include='*.swift' --include='*.md' | grep -v '^Sources/Room/' || true)
[[ -z $found ]] && exit 0
printf 'The events of a signalling client are read by RoomSession only:\n%s\n' "$found"
exit 1
