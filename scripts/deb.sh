#!/bin/bash
# Makes one Debian package: chatbot, chatbot-media and chatbot-service with their manual pages, completions, the unit file, the user
# and the settings of the service, and alerts for Prometheus.
#
# Usage: scripts/deb.sh [FOLDER]    puts the package into FOLDER, out/ by default, and prints its path
#
# PROGRAMS=FOLDER packs the programs of this folder, as built; else `make install`'s programs are built first.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'deb.sh: %s\n' "$*" >&2; }
fail() {
  say "$*"
  exit 1
}

output=${1:-out}
programs=${PROGRAMS:-}
if [[ -z $programs ]]; then
  scripts/build.sh programs install >&2
  scripts/build.sh service install >&2
  programs=.build/install/release
fi
for name in chatbot chatbot-media chatbot-service; do
  [[ -x $programs/$name ]] || fail "there is no program $programs/$name."
done

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
root=$stage/root
# Files of the package have the same modes wherever it is made.
umask 022
mkdir -p "$root/DEBIAN"

# put MODE FILE PATH: a file of the package.
put() { install -D -m "$1" "$2" "$root/$3"; }

put 755 "$programs/chatbot" usr/bin/chatbot
put 755 "$programs/chatbot-service" usr/bin/chatbot-service
put 755 "$programs/chatbot-media" usr/libexec/chatbot/chatbot-media
VENDOR=1 scripts/install-documents.sh "$programs/chatbot" "$root/usr/share"
VENDOR=1 scripts/install-documents.sh "$programs/chatbot-service" "$root/usr/share"
binaries=("$root/usr/bin/chatbot" "$root/usr/bin/chatbot-service" "$root/usr/libexec/chatbot/chatbot-media")
# As dh_strip does. --version and the manual pages were printed by the programs as built.
strip --remove-section=.comment --remove-section=.note "${binaries[@]}"

put 644 deploy/chatbot-service.service usr/lib/systemd/system/chatbot-service.service
put 644 deploy/service.yaml etc/chatbot/service.yaml
put 644 deploy/alerts.yml usr/share/doc/chatbot/examples/alerts.yml
put 644 deploy/debian/copyright usr/share/doc/chatbot/copyright
put 644 deploy/debian/lintian-overrides usr/share/lintian/overrides/chatbot
put 644 NOTICE usr/share/doc/chatbot/NOTICE
find "$root/usr/share/man" -type f -exec gzip -9n {} +

version=$("$programs/chatbot" --version)-1
# The date of the last commit, so that the same sources give the same package.
seconds=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
# That of the repository, `NAME <ADDRESS>`. Those who distribute packages set DEBFULLNAME and DEBEMAIL, as for other tools of Debian.
maintainer=$(<deploy/debian/maintainer)
maintainer="${DEBFULLNAME:-${maintainer% <*}} <${DEBEMAIL:-$(sed 's/.*<\(.*\)>/\1/' <<<"$maintainer")}>"
changelog=usr/share/doc/chatbot/changelog.Debian
printf 'chatbot (%s) unstable; urgency=medium\n\n  * See changelog.gz.\n\n -- %s  %s\n' \
  "$version" "$maintainer" "$(LC_ALL=C date --utc --date="@$seconds" -R)" >"$root/$changelog"
gzip -9n "$root/$changelog"
put 644 CHANGELOG.md usr/share/doc/chatbot/changelog
gzip -9n "$root/usr/share/doc/chatbot/changelog"

# dpkg-shlibdeps reads the source part of debian/control only to find the package.
mkdir -p "$stage/debian"
printf 'Source: chatbot\n\nPackage: chatbot\nArchitecture: any\n' >"$stage/debian/control"
# Swift's own libraries are in no package of Debian: programs that need them, as debug builds do, are packed only on request.
missing=()
[[ -z ${DYNAMIC_SWIFT:-} ]] || missing=(--ignore-missing-info)
depends=$(cd "$stage" && dpkg-shlibdeps -O "${missing[@]}" "${binaries[@]/#/-e}" 2>"$stage/shlibdeps") || {
  cat "$stage/shlibdeps" >&2
  fail "the libraries of the programs cannot be found in packages (DYNAMIC_SWIFT=1 leaves Swift's own out)."
}
depends=${depends#shlibs:Depends=}

size=$(du -k --apparent-size --summarize "$root" | cut -f1)
cat >"$root/DEBIAN/control" <<CONTROL
Package: chatbot
Version: $version
Section: video
Priority: optional
Architecture: $(dpkg --print-architecture)
Maintainer: $maintainer
Installed-Size: $size
Depends: $depends, adduser, ca-certificates
Recommends: libpangocairo-1.0-0, fonts-dejavu-core
Description: headless participant of WebRTC calls, and a service of jobs
 chatbot joins a room of a WebRTC call without a browser. It records what every
 user sends, plays files, echoes, and checks that calls work.
 .
 chatbot-service starts and supervises such participants as jobs over an HTTP
 API, with a page for operators, metrics and alerts.
 .
 chatbot-media decodes and encodes with FFmpeg in processes of its own.
CONTROL
for script in postinst prerm postrm; do put 755 "deploy/debian/$script" "DEBIAN/$script"; done
echo /etc/chatbot/service.yaml >"$root/DEBIAN/conffiles"
(cd "$root" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
find "$root" -newermt "@$seconds" -exec touch --no-dereference --date="@$seconds" {} +

mkdir -p "$output"
package=$output/chatbot_${version}_$(dpkg --print-architecture).deb
SOURCE_DATE_EPOCH=$seconds dpkg-deb --root-owner-group --build "$root" "$package" >/dev/null
echo "$package"
