#!/bin/sh
# Installs the Python packages that tests need, each set in a folder of its own: Socket.IO 2 with Engine.IO 3, Socket.IO 4 with
# Engine.IO 4, FFmpeg 8.1 with its WHIP muxer, programs that test an HTTP API, what receivers of webhooks verify signatures with, and
# moto and OpenStack Swift as stores of S3. Does nothing if they are installed.
#
# Usage: scripts/install-python-packages.sh [FOLDER]       FOLDER is .build/python unless stated
#
# The tests find the interpreters by CHATBOT_SOCKETIO_PYTHON3=FOLDER/socketio3/bin/python3 and
# CHATBOT_SOCKETIO_PYTHON4=FOLDER/socketio4/bin/python3, that of FFmpeg by CHATBOT_FFMPEG_PYTHON=FOLDER/ffmpeg/bin/python3, that
# of schemathesis and openapi-spec-validator by CHATBOT_API_PYTHON=FOLDER/api/bin/python3, that of receivers by
# CHATBOT_WEBHOOKS_PYTHON=FOLDER/webhooks/bin/python3, and those of the stores by CHATBOT_MOTO_PYTHON=FOLDER/moto/bin/python3 and
# CHATBOT_SWIFT_PYTHON=FOLDER/swift/bin/python3.
set -eu
cd "$(dirname "$0")/.."

folder=${1:-.build/python}
common="aiohttp==3.14.5 aiortc==1.14.0"

fail() {
  printf 'install-python-packages.sh: %s\n' "$*" >&2
  exit 1
}

install() {
  name=$1
  shift
  mark="$folder/$name/installed"
  [ "$(cat "$mark" 2>/dev/null || true)" = "$*" ] && [ -x "$folder/$name/bin/python3" ] && return
  printf 'Installing the Python packages %s in %s\n' "$*" "$folder/$name"
  log=$(mktemp)
  rm -rf "${folder:?}/$name"
  if ! python3 -m venv "$folder/$name" >"$log" 2>&1; then
    tail -n 5 "$log" >&2
    rm -f "$log"
    fail "python3 cannot create a virtual environment; on Debian, install python3-venv."
  fi
  if ! timeout 600 "$folder/$name/bin/pip" install --quiet --disable-pip-version-check --retries 2 "$@" >"$log" 2>&1; then
    tail -n 5 "$log" >&2
    rm -f "$log"
    fail "pip could not install $* (its last lines are above); without a network the tests that need them are skipped."
  fi
  rm -f "$log"
  printf '%s\n' "$*" >"$mark"
}

command -v python3 >/dev/null || fail "python3 is missing."
mkdir -p "$folder"
# shellcheck disable=SC2086 # The names must be split.
install socketio3 python-socketio==4.6.1 python-engineio==3.14.2 $common
# shellcheck disable=SC2086
install socketio4 python-socketio==5.11.4 python-engineio==4.9.1 $common
install ffmpeg av==18.1.0
install api schemathesis==4.32.5 openapi-spec-validator==0.9.0
install webhooks standardwebhooks==1.1.0
install moto "moto[server]==5.2.5"
install swift swift==2.38.3
