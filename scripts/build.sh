#!/bin/sh
# Builds as all tasks do, so that no task builds again what another has built: optimised, because what runs in real time must
# keep up with a browser on the same two cores, and testable, because tests look inside the modules.
#
# Usage: scripts/build.sh build|test [ARGUMENT...]    the arguments are those of `swift build` and `swift test`
set -eu
cd "$(dirname "$0")/.."
what=$1
shift
exec "${SWIFT:-swift}" "$what" --configuration release -Xswiftc -enable-testing "$@"
