# shellcheck shell=bash
# Background programs of scripts that measure: sourced by bench.sh and overload.sh. The programs write their output into
# a temporary folder and are killed when the script ends, in whatever way it ends.
#
# Sets `folder`, and traps EXIT, INT and TERM.

folder=$(mktemp -d "${TMPDIR:-/tmp}/chatbot-measuring.XXXXXX")
children=()

# fail SENTENCE: ends the script and prints the last lines of its programs' logs.
fail() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  local log
  for log in "$folder"/*.log; do
    [[ -s $log ]] || continue
    printf '%s ends with:\n' "$log" >&2
    tail -n 5 "$log" >&2
  done
  exit 1
}

clean_up() {
  local status=$? id
  trap - EXIT INT TERM
  for id in "${children[@]}"; do kill -KILL "$id" 2>/dev/null || true; done
  rm -rf "$folder"
  exit "$status"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# start LOG COMMAND...: starts a program in the background; $! is its process id.
start() {
  local log=$1
  shift
  "$@" >"$folder/$log" 2>&1 </dev/null &
  children+=($!)
}

listens() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# cpu PROCESS: its user and system CPU time so far, in ticks (proc(5), fields 14 and 15).
cpu() { sed 's/.*) //' "/proc/$1/stat" | awk '{ print $12 + $13 }'; }
