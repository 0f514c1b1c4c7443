#!/bin/sh
# Exits with 0 if the call of a room works, and writes the reports to $OUT: HTML, JUnit, and JSON for the next run.
# Usage: SERVER=wss://calls.example:8443 ROOM=100 samples/ci/check.sh [--peers 2, --expect RULE, …]
set -eu
out=${OUT:-call-check}
mkdir -p "$out"
exec "${CHATBOT:-chatbot}" check --server "${SERVER:-ws://localhost:3000}" --room "${ROOM:-100}" --wait 60s --for 20s \
  ${GITHUB_STEP_SUMMARY:+--summary-markdown "$GITHUB_STEP_SUMMARY"} \
  --html "$out/report.html" --junit "$out/junit.xml" --json "$out/report.json" --quiet "$@"
