#!/bin/bash
# Fuzzes all parsers with coverage guidance and the address sanitizer, each for an equal part of the time. An input that
# causes a failure is stored in Tests/Fuzz/Crashes, where `make test` runs it, and fails the run.
#
# Usage: scripts/fuzz.sh [MINUTES [TARGET...]]      10 minutes and all targets by default; 0 minutes: only build
#
# Interesting inputs are kept in .build/fuzz-corpus; Tests/Fuzz/Corpus is only read.
set -euo pipefail
cd "$(dirname "$0")/.."

minutes=${1:-10}
(($# == 0)) || shift
export CHATBOT_FUZZ=1
swift=$(command -v "${SWIFT:-swift}")

# The runtime of libFuzzer is part of the toolchain's clang, and needs the C++ library.
runtimes=("$(dirname "$(dirname "$(readlink -f "$swift")")")"/lib/clang/*/lib/linux/libclang_rt.fuzzer_no_main-"$(uname -m)".a)
[[ -e ${runtimes[0]} ]] || {
  printf 'There is no libFuzzer for %s: %s is missing\n' "$swift" "${runtimes[0]}" >&2
  exit 1
}

child=
trap '[[ -z $child ]] || kill -TERM "$child" 2>/dev/null; exit 130' HUP INT TERM

# run SECONDS COMMAND...: ends a command that hangs; the shell can handle signals meanwhile.
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

# The targets, and the maximum input size of each in bytes.
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

# libFuzzer prints the backtrace. Swift's own backtracer would wait for a process that has ended.
export SWIFT_BACKTRACE=enable=no
# Leaks cannot be distinguished from what Swift keeps permanently.
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
  # The program itself measures the CPU time of an input. libFuzzer's timeout uses the wall clock, which is wrong on a
  # busy machine, so it is only for inputs that hang. One input may use 64 MiB; the limit of the process also covers the
  # sanitizer's shadow memory.
  CHATBOT_FUZZ_TARGET=$target run $((seconds + 60)) "$program" "$work" "Tests/Fuzz/Corpus/$target" \
    -max_total_time="$seconds" -max_len="${largest[$target]}" -timeout=10 -malloc_limit_mb=64 -rss_limit_mb=2048 \
    -use_value_profile=1 -print_final_stats=1 -artifact_prefix="$found/" >"$logs/$target.log" 2>&1 || status=$?
  printf '%-12s %s\n' "$target" "$(awk '
    /number_of_executed_units/ { runs = $2 } / cov: / { for (i = 1; i < NF; i++) if ($i == "cov:") edges = $(i + 1) }
    END { printf "%d inputs, %d edges", runs, edges }' "$logs/$target.log")"
  for input in "$found"/*; do
    # An input that is only slow under the sanitizer is not a failure.
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
  printf '\nInputs that cause a failure, and logs:\n'
  printf '  %s\n' "${failed[@]}"
  exit 1
}
printf '\nNo input caused a failure.\n'
