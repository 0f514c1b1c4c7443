#!/bin/bash
# Writes the symbol graphs of the libraries' public interfaces, from the modules that scripts/build.sh has built.
#
# Usage: scripts/symbols.sh FOLDER MODULE...
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$1
shift

bin=$(scripts/build.sh build --show-bin-path)
swift=$(command -v "${SWIFT:-swift}")
extract=$(dirname "$(readlink -f "$swift")")/swift-symbolgraph-extract
# The module maps of C libraries: of this package, of the build, and of the dependencies.
arguments=()
for map in Sources/CLibraries/*/module.modulemap Sources/CLibraries/*/include/module.modulemap "$bin"/*.build/module.modulemap; do
  [[ ! -f $map ]] || arguments+=(-Xcc "-fmodule-map-file=$map")
done
for map in .build/checkouts/*/Sources/*/include/module.modulemap; do
  [[ ! -f $map ]] || arguments+=(-Xcc "-fmodule-map-file=$map")
done
for include in .build/checkouts/*/Sources/*/include; do arguments+=(-Xcc "-I$include"); done
for flag in $(pkg-config --cflags-only-I opus vpx ogg libsrtp2 openssl); do
  arguments+=(-Xcc "$flag")
done

mkdir -p "$folder"
target=$("$swift" -print-target-info | sed -n 's/.*"unversionedTriple" *: *"\(.*\)".*/\1/p' | head -n 1)
for module in "$@"; do
  "$extract" -module-name "$module" -I "$bin/Modules" -target "$target" -minimum-access-level public \
    -skip-synthesized-members -output-dir "$folder" "${arguments[@]}"
done
