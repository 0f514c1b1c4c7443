#!/bin/bash
# Installs the manual page and the completions of bash, zsh and fish, which a program writes itself.
#
# Usage: scripts/install-documents.sh PROGRAM FOLDER    FOLDER is that of shared files, such as /usr/local/share
#
# VENDOR=1 puts the completion of zsh where packages of Debian have theirs.
set -euo pipefail
program=$1
folder=$2
name=$(basename "$program")
zsh=zsh/site-functions
[[ -z ${VENDOR:-} ]] || zsh=zsh/vendor-completions

files=$(mktemp -d)
trap 'rm -rf "$files"' EXIT

# put FILE ARGUMENTS...: writes what the program prints into a file below the folder.
put() {
  local file=$1
  shift
  # A file of configuration has no influence on it.
  env -u CHATBOT_CONFIG -u CHATBOT_SERVICE_CONFIG "$program" "$@" >"$files/text"
  install -D -m 644 "$files/text" "$folder/$file"
}

put "man/man1/$name.1" manual
put "bash-completion/completions/$name" --generate-completion-script bash
# It is sourced, and no program.
sed -i '1{/^#!/d}' "$folder/bash-completion/completions/$name"
put "$zsh/_$name" --generate-completion-script zsh
put "fish/vendor_completions.d/$name.fish" --generate-completion-script fish
