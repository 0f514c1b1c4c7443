#!/bin/bash
# Fuzzes all parsers, guided by coverage and watched by the address sanitizer, each for an equal part of the time. An input
# that breaks something is kept in Tests/Fuzz/Crashes, where `make test` finds it, and fails the run.
#
# Usage: scripts/fuzz.sh [MINUTES [TARGET...]]      10 minutes and all targets by default; 0 minutes only build
#
# What was found worth trying stays in .build/fuzz-corpus; Tests/Fuzz/Corpus is only read.
set -euo pipefail
cd "$(dirname "$0")/.."

minutes=${1:-10}
(($# == 0)) || shift
export CHATBOT_FUZZ=1
swift=$(command -v "${SWIFT:-swift}")

# libFuzzer's runtime comes with the toolchain's clang, and is written in C++.
runtimes=("$(dirname "$(dirname "$(readlink -f "$swift")")")"/lib/clang/*/lib/linux/libclang_rt.fuzzer_no_main-"$(uname -m)".a)
[[ -e ${runtimes[0]} ]] || {
  printf 'There is no libFuzzer beside %s: %s\n' "$swift" "${runtimes[0]}" >&2
  exit 1
}

child=
trap '[[ -z $child ]] || kill -TERM "$child" 2>/dev/null; exit 130' HUP INT TERM

# run SECONDS COMMAND...: ends what hangs, and lets the shell take signals meanwhile.
run() {
  local seconds=$1 status=0
  shift
  timeout --kill-after=5 "$seconds" "$@" </dev/null &
  child=$!
  wait "$child" || status=$?
  child=
  return $status
}

printf 'Building the fuzzer (the first time takes some minutes).\n'
flags=(
  --scratch-path .build/fuzz --product fuzz --sanitize address
  -Xswiftc -sanitize-coverage=edge,trace-cmp,inline-8bit-counters,pc-table
  -Xlinker "${runtimes[0]}" -Xlinker -lstdc++ -Xlinker -lm
)
run 3600 scripts/build.sh build "${flags[@]}"
program=.build/fuzz/release/fuzz
((minutes > 0)) || exit 0

# Targets, and bytes of the largest input of each.
declare -A largest
all=()
while read -r name size; do
  all+=("$name")
  largest[$name]=$size
done < <("$program" </dev/null)
targets=("$@")
((${#targets[@]} > 0)) || targets=("${all[@]}")
for target in "${targets[@]}"; do
  [[ -n ${largest[$target]-} ]] || {
    printf 'There is no target "%s"; there are: %s\n' "$target" "${all[*]}" >&2
    exit 64
  }
done

# libFuzzer says where something broke; Swift's own program for that would wait for a process that is gone.
export SWIFT_BACKTRACE=enable=no
# Leaks cannot be told from what Swift keeps for ever.
export ASAN_OPTIONS=detect_leaks=0:quarantine_size_mb=16:abort_on_error=0
seconds=$((minutes * 60 / ${#targets[@]}))
((seconds > 0)) || seconds=1
crashes=Tests/Fuzz/Crashes
logs=.build/fuzz-logs
mkdir -p "$crashes" "$logs"
failed=()
for target in "${targets[@]}"; do
  work=.build/fuzz-corpus/$target
  found=.build/fuzz-found/$target
  rm -rf "$found"
  mkdir -p "$work" "$found"
  status=0
  # The program itself measures what an input takes of a processor; libFuzzer's clock, which a busy machine makes run ahead, is
  # for inputs that hang. One input may take 64 MiB; the limit of the process has room for the sanitizer's shadow besides.
  CHATBOT_FUZZ_TARGET=$target run $((seconds + 60)) "$program" "$work" "Tests/Fuzz/Corpus/$target" \
    -max_total_time="$seconds" -max_len="${largest[$target]}" -timeout=10 -malloc_limit_mb=64 -rss_limit_mb=2048 \
    -use_value_profile=1 -print_final_stats=1 -artifact_prefix="$found/" >"$logs/$target.log" 2>&1 || status=$?
  printf '%-12s %s\n' "$target" "$(awk '
    /number_of_executed_units/ { runs = $2 } / cov: / { for (i = 1; i < NF; i++) if ($i == "cov:") edges = $(i + 1) }
    END { printf "%d inputs, %d edges", runs, edges }' "$logs/$target.log")"
  for input in "$found"/*; do
    # What was only slow for the sanitizer is no failure.
    [[ -e $input && $input != */slow-unit-* ]] || continue
    kept=$crashes/$target-$(sha1sum <"$input" | cut -c1-12)
    cp "$input" "$kept"
    failed+=("$kept")
  done
  if ((status != 0)); then
    printf '  ended with %d: %s\n' "$status" \
      "$(grep -m 1 -aE 'CHATBOT_FUZZ:|Fatal error|ERROR: (Address|libFuzzer)' "$logs/$target.log" || echo "see $logs/$target.log")"
    failed+=("$logs/$target.log")
  fi
done

((${#failed[@]} == 0)) || {
  printf '\nInputs that break something, and logs:\n'
  printf '  %s\n' "${failed[@]}"
  exit 1
}
printf '\nNo input broke anything.\n'
