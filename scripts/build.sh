#!/bin/sh
# Builds as all tasks do, so that no task builds again what another has built: optimised, because what runs in real time must
# keep up with a browser on the same two cores, and testable, because tests look inside the modules.
#
# A program to install is built apart, into .build/install: with Swift's libraries inside, not testable, and without the checks
# of exclusive access while it runs. Tests run with these checks, and what the compiler finds is an error in both builds.
#
# Usage: scripts/build.sh build|test|install [ARGUMENT...]    the arguments are those of `swift build` and `swift test`
set -eu
cd "$(dirname "$0")/.."
what=$1
shift
case $what in
  install)
    exec "${SWIFT:-swift}" build --configuration release --scratch-path .build/install --static-swift-stdlib \
      -Xswiftc -enforce-exclusivity=unchecked "$@"
    ;;
  *) exec "${SWIFT:-swift}" "$what" --configuration release -Xswiftc -enable-testing "$@" ;;
esac
