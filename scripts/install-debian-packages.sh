#!/bin/sh
# Installs the Debian packages that a task needs and that are missing; does nothing if all are installed.
#
# Usage: scripts/install-debian-packages.sh build|deb|check-deb|demo|unit|test|interop|bench|sample...
set -eu

say() { printf '%s\n' "$*"; }
fail() {
  printf 'install-debian-packages.sh: %s\n' "$*" >&2
  exit 1
}

wanted=
for purpose in "$@"; do
  case $purpose in
    # The C libraries, and pkg-config to find them.
    build) wanted="$wanted libavcodec-dev libavformat-dev libavutil-dev libogg-dev libopus-dev libpangocairo-1.0-0 libpq-dev libsqlite3-dev libsrtp2-dev libssl-dev libswresample-dev libswscale-dev libvpx-dev libwebm-dev libyuv-dev pkg-config" ;;
    # The dependencies and the file of a package.
    deb) wanted="$wanted binutils dpkg-dev" ;;
    # A new Debian to install it in.
    check-deb) wanted="$wanted debootstrap lintian util-linux" ;;
    # ffmpeg decodes the recording.
    demo) wanted="$wanted ffmpeg" ;;
    # Programs that read recordings and write media.
    unit) wanted="$wanted ffmpeg fonts-dejavu-core mkvtoolnix opus-tools openssl python3" ;;
    # More programs that read recordings, browsers with a font, tools for Firefox' network namespace, other WebRTC stacks and
    # servers of other signalling systems, databases.
    test) wanted="$wanted gir1.2-gst-plugins-bad-1.0 gstreamer1.0-nice gstreamer1.0-plugins-bad gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-ugly janus coturn nftables tayga openssl python3-aiohttp python3-aiortc python3-gi python3-numpy python3-venv ffmpeg mkvtoolnix opus-tools chromium chromium-headless-shell firefox-esr fonts-dejavu-core iproute2 libxml2-utils pgbouncer postgresql-15 prometheus util-linux valgrind" ;;
    # Another stack, which is compiled here.
    interop) wanted="$wanted golang-github-pion-webrtc.v3-dev golang-go" ;;
    # Tools to create the published file and to compile the floor.
    bench) wanted="$wanted coturn ffmpeg gcc libc6-dev libsrtp2-dev pkg-config python3" ;;
    # Tools to create samples/test.webm.
    sample) wanted="$wanted ffmpeg fonts-dejavu-core" ;;
    *) fail "\"$purpose\" is not one of bench, build, check-deb, deb, demo, interop, sample, test, unit." ;;
  esac
done
[ -n "$wanted" ] || fail "state a purpose: bench, build, check-deb, deb, demo, interop, sample, test or unit."

command -v dpkg-query >/dev/null || fail "this is not Debian; please install by hand:$wanted"

missing=
for package in $wanted; do
  status=$(dpkg-query --show --showformat '${db:Status-Status}' "$package" 2>/dev/null || true)
  case " $missing " in *" $package "*) continue ;; esac
  [ "$status" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -eq 0 ]; then
  as_root=
elif command -v sudo >/dev/null; then
  as_root=sudo
else
  fail "these Debian packages are missing and can only be installed by root or with sudo:$missing"
fi

say "Installing the Debian packages needed for $*, as root:$missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# RUNLEVEL=1 keeps packages from starting a service where there is no systemd.
# shellcheck disable=SC2086 # The names must be split.
install() {
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q update </dev/null >"$log" 2>&1 &&
    $as_root env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get -q install --yes --no-install-recommends $missing \
      </dev/null >"$log" 2>&1
}
install || {
  tail -n 20 "$log" >&2
  fail "apt-get could not install$missing (its last lines are above)."
}
# The tests start servers of their own; those of the system neither run nor start with the machine.
for server in janus pgbouncer postgresql prometheus; do
  case " $missing " in
    *" $server "* | *" $server-"[0-9]*)
      if [ -d /run/systemd/system ]; then
        $as_root systemctl disable --quiet --now "$server.service" >/dev/null 2>&1 || true
      elif [ -x "/etc/init.d/$server" ]; then
        $as_root "/etc/init.d/$server" stop >/dev/null 2>&1 || true
        $as_root update-rc.d "$server" disable >/dev/null 2>&1 || true
      fi
      ;;
  esac
done
