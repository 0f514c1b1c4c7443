#!/bin/sh
# Builds in the same way for all tasks, so that no task repeats the build of another one: optimised, because real-time programs
# must keep up with a browser on the same two cores, and testable, because the tests access internals of the modules.
#
# The program for `install` is built separately in .build/install: with the Swift libraries linked in, not testable, and
# without the runtime checks of exclusive access. The tests run with these checks, and violations found by the compiler
# are errors in both builds.
#
# Usage: scripts/build.sh build|test|install [ARGUMENT...]    arguments for `swift build` and `swift test`
#        scripts/build.sh programs build|install              chatbot, and chatbot-media, which decodes for it
#        scripts/build.sh service build|install               chatbot-service
set -eu
cd "$(dirname "$0")/.."
what=$1
shift
case $what in
  programs)
    "$0" "$1" --product chatbot-media
    exec "$0" "$1" --product chatbot
    ;;
  service) exec "$0" "$1" --product chatbot-service ;;
  install)
    exec "${SWIFT:-swift}" build --configuration release --scratch-path .build/install --static-swift-stdlib \
      -Xswiftc -enforce-exclusivity=unchecked "$@"
    ;;
  *) exec "${SWIFT:-swift}" "$what" --configuration release -Xswiftc -enable-testing "$@" ;;
esac
