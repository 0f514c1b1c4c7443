#!/bin/sh
# Installs the official Firestore client into a virtual environment, to check the server that the tests use instead of
# Firestore, and runs that check.
#
# Usage: scripts/install-firestore-python.sh [FOLDER]      .build/firestore-python without an argument
set -eu
cd "$(dirname "$0")/.."
folder=${1:-.build/firestore-python}
if [ ! -x "$folder/bin/python" ]; then
  python3 -m venv "$folder"
fi
"$folder/bin/python" -m pip install --quiet --disable-pip-version-check 'google-cloud-firestore==2.*'
"$folder/bin/python" Tests/Interop/check-firestore-server.py
