#!/bin/bash
# Measures how fast files are uploaded to a store of S3 on this machine that throws bytes away (Benchmarks/Uploads), and what that
# costs the process that uploads. Fails below 80 MB/s of a core.
#
# Usage: scripts/bench-uploads.sh [FILES] [MEBIBYTES]
#   UPLOAD_SPEED=FILE  uses this program instead of building it
set -euo pipefail
cd "$(dirname "$0")/.."

least=80
program=${UPLOAD_SPEED:-}
if [[ -z $program ]]; then
  scripts/build.sh build --product upload-speed >&2
  program=$(scripts/build.sh build --show-bin-path)/upload-speed
fi
folder=$(mktemp -d "${TMPDIR:-/tmp}/chatbot-uploads.XXXXXX")
mkfifo "$folder/input"
python3 Benchmarks/Uploads/sink.py <"$folder/input" >"$folder/endpoint" &
sink=$!
exec 3>"$folder/input"
# The sink ends with its input.
trap 'exec 3>&-; wait "$sink" 2>/dev/null || true; rm -rf "$folder"' EXIT
for _ in $(seq 100); do
  [[ ! -s $folder/endpoint ]] || break
  sleep 0.1
done
timeout 600 "$program" "$(cat "$folder/endpoint")" "$folder" "${1:-8}" "${2:-64}" 3>&- | tee "$folder/figures"
rate=$(sed -n 's/^MB\/s of a core.*: //p' "$folder/figures")
[[ $rate -ge $least ]] || {
  printf 'bench-uploads.sh: %s MB/s of a core, less than %s.\n' "$rate" "$least" >&2
  exit 1
}
