#!/bin/bash
# Checks a package that `make deb` made: lintian finds no error and no warning that is not explained, and the package works in a new
# Debian without anything but its dependencies. Needs root, a network, and the Debian packages debootstrap and lintian.
#
# Usage: scripts/check-deb.sh PACKAGE [RELEASE]    RELEASE is that of Debian, this machine's by default
set -euo pipefail

package=$(realpath "$1")
release=${2:-$(. /etc/os-release && echo "$VERSION_CODENAME")}
scripts=$(dirname "$(realpath "$0")")
"$scripts/install-debian-packages.sh" check-deb

step() { printf '\n== %s\n' "$*"; }

step "lintian"
lintian --allow-root --fail-on error,warning "$package"

step "A new Debian $release"
folder=$(mktemp -d)
trap 'rm -rf --one-file-system "$folder"' EXIT
debootstrap --variant=minbase "$release" "$folder/root" >"$folder/log" 2>&1 || {
  tail -n 5 "$folder/log"
  exit 1
}
cp "$package" "$folder/root/tmp/package.deb"
printf '127.0.0.1 localhost\n' >"$folder/root/etc/hosts"

# inside COMMAND: runs a command of a shell there, with mounts that end with it.
inside() {
  unshare --mount --pid --fork bash -c '
    mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" /bin/bash -euc "$1"' "$folder/root" "$1"
}

step "Installation"
inside 'export DEBIAN_FRONTEND=noninteractive
  { apt-get -q update && apt-get -q install --yes --no-install-recommends /tmp/package.deb; } >/tmp/log 2>&1 || { tail /tmp/log; exit 1; }
  dpkg --status chatbot | grep -E "^(Status|Version|Installed-Size)"'

step "Programs"
inside 'chatbot --version && chatbot-service --version && chatbot-service check-config /etc/chatbot/service.yaml
  /usr/libexec/chatbot/chatbot-media --self-test >/tmp/log || { cat /tmp/log; exit 1; }
  for name in chatbot chatbot-service; do gzip -t /usr/share/man/man1/$name.1.gz; test -s /usr/share/bash-completion/completions/$name; done'

step "A call within it, judged by chatbot check --self"
# 2: this machine could not keep up, which says nothing about the package.
status=0
inside 'cd /tmp && chatbot check --self' || status=$?
[[ $status -eq 0 || $status -eq 2 ]] || exit 1

step "Removal"
inside 'export DEBIAN_FRONTEND=noninteractive
  apt-get -q purge --yes chatbot >/tmp/log 2>&1 || { tail /tmp/log; exit 1; }
  test ! -e /usr/bin/chatbot && test ! -e /etc/chatbot'
printf '\nThe package can be used.\n'
