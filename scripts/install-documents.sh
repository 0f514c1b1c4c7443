#!/bin/bash
# Installs the manual page and the completions of bash, zsh and fish, which the program writes itself.
#
# Usage: scripts/install-documents.sh PROGRAM FOLDER    FOLDER is that of shared files, such as /usr/local/share
set -euo pipefail
program=$1
folder=$2

files=$(mktemp -d)
trap 'rm -rf "$files"' EXIT

# put FILE ARGUMENTS...: writes what the program prints into a file below the folder.
put() {
  local file=$1
  shift
  # A file of configuration has no influence on it.
  env -u CHATBOT_CONFIG "$program" "$@" >"$files/text"
  install -D -m 644 "$files/text" "$folder/$file"
}

put man/man1/chatbot.1 manual
put bash-completion/completions/chatbot --generate-completion-script bash
put zsh/site-functions/_chatbot --generate-completion-script zsh
put fish/vendor_completions.d/chatbot.fish --generate-completion-script fish
