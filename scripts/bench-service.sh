#!/bin/bash
# Measures the service of jobs: what an idle job and the service with many of them cost, how long a submission and a pause take, and
# what users in rooms of five cost compared with all of them in one process; submissions and a node at rest with PostgreSQL, where
# Debian's postgresql-15 is installed; and uploads to a store of S3 (scripts/bench-uploads.sh). Prints each figure with its bound and the command that
# measured it, and keeps them in Benchmarks/service.md. The exit code is 1 if a figure is beyond its bound.
#
# Usage: scripts/bench-service.sh
#   BINDIR=FOLDER      measures the programs in this folder instead of building those that `make install` installs; without
#                      upload-speed in it, uploads are not measured
#   BENCH_JOBS=100     idle jobs beside which the service is measured
#   BENCH_SECONDS=20   the time of each measurement of CPU time
#   BENCH_ROOMS=4      rooms of five users, and as many users in one room
#   BENCH_RESULTS=FILE where the figures are kept instead
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/children.sh

jobs=${BENCH_JOBS:-100}
seconds=${BENCH_SECONDS:-20}
rooms=${BENCH_ROOMS:-4}
results=${BENCH_RESULTS:-Benchmarks/service.md}
programs=${BINDIR:-}
if [[ -z $programs ]]; then
  scripts/install-debian-packages.sh build bench
  scripts/build.sh programs install >&2
  scripts/build.sh service install >&2
  programs=$(scripts/build.sh install --show-bin-path)
  scripts/build.sh build --product upload-speed >&2
  uploads=$(scripts/build.sh build --show-bin-path)/upload-speed
fi
programs=$(cd "$programs" && pwd)
for name in chatbot chatbot-service; do [[ -x $programs/$name ]] || fail "there is no $name in $programs."; done

uploads=${uploads:-$programs/upload-speed}
upload_rate=
if [[ -x $uploads ]]; then
  # Below its bound it fails, and the figure stands in the table all the same.
  UPLOAD_SPEED=$uploads scripts/bench-uploads.sh >"$folder/uploads" || true
  upload_rate=$(sed -n 's/^MB\/s of a core.*: //p' "$folder/uploads")
  [[ -n $upload_rate ]] || fail "uploads could not be measured: $(tail -n 1 "$folder/uploads")"
fi

# The job processes live in sessions of their own and outlive the service.
end_jobs() {
  local file
  for file in "$folder"/*/jobs/*/*/lock; do
    [[ -s $file ]] || continue
    # Only a process that holds the lock has the id.
    flock --nonblock "$file" true || kill -KILL "$(cat "$file")" 2>/dev/null || true
  done
}
trap 'end_jobs; clean_up' EXIT

port=4500
while listens $port; do port=$((port + 1)); done
room_port=$port
start rooms.log "$programs/chatbot" serve --host 127.0.0.1 --port "$room_port" --users-per-room 1001 --quiet
for ((tries = 0; tries < 100; tries++)); do
  if listens "$room_port"; then break; fi
  sleep 0.1
done
port=$((port + 1))
while listens $port; do port=$((port + 1)); done

command="BINDIR=$programs BENCH_JOBS=$jobs BENCH_SECONDS=$seconds BENCH_ROOMS=$rooms scripts/bench-service.sh"
model=$(awk -F ': ' '/^model name/ { print $2; exit }' /proc/cpuinfo)
status=0
{
  printf '# Cost of the service of jobs\n\n'
  printf '%s, %s, %d processors, %s GiB; %s; load before: %s.\n' "$(date -u +%F)" "$model" "$(nproc)" \
    "$(awk '/^MemTotal:/ { printf "%.0f", $2 / 1048576 }' /proc/meminfo)" "$(uname -sr)" "$(cut -d ' ' -f 1-3 /proc/loadavg)"
  # shellcheck disable=SC2016 # The backquotes are those of Markdown.
  printf 'Command: `%s`; version %s.\n\n' "${command#BINDIR="$programs" }" "$("$programs/chatbot-service" --version)"
  PYTHONUNBUFFERED=1 python3 scripts/bench-service.py --programs "$programs" --folder "$folder" --port "$port" \
    --rooms-at "ws://127.0.0.1:$room_port" --jobs "$jobs" --seconds "$seconds" --rooms "$rooms" \
    ${upload_rate:+--upload-rate "$upload_rate"}
} | tee "$folder/results.md" || status=$?
[[ $status -le 1 ]] || fail "the figures could not be measured."
cp "$folder/results.md" "$results"
exit "$status"
