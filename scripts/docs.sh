#!/bin/bash
# Builds the documentation of the libraries, an archive for each, into a folder. Warnings are errors.
#
# Usage: scripts/docs.sh FOLDER
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$1
modules=(BotPeer CallCheck FileSource LiveSource Media Recorder Signalling SkyRTC)

scripts/build.sh build >&2
swift=$(command -v "${SWIFT:-swift}")
docc=$(dirname "$(readlink -f "$swift")")/docc
symbols=$(mktemp -d)
trap 'rm -rf "$symbols"' EXIT
for module in "${modules[@]}"; do
  scripts/symbols.sh "$symbols/$module" "$module"
  mkdir -p "$folder"
  "$docc" convert "Sources/$module/$module.docc" --additional-symbol-graph-dir "$symbols/$module" --warnings-as-errors \
    --fallback-display-name "$module" --fallback-bundle-identifier "chatbot.$module" --output-path "$folder/$module.doccarchive"
  printf 'The documentation of %s is in %s.\n' "$module" "$folder/$module.doccarchive"
done
