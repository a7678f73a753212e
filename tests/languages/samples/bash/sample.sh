#!/usr/bin/env bash
#
# Deploys a release to the servers.

set -euo pipefail

source "$(dirname "$0")/lib/log.sh"
. ./config.sh

readonly MAX_TRIES=3
export DEPLOY_ENV="${DEPLOY_ENV:-staging}"
declare -r servers_file="servers.txt"
declare -a HOSTS=(alpha beta)
RELEASE="$(git describe)"
count=0

alias ll='ls -l'

# Prints how to use this script.
usage() {
  cat <<EOF
usage: deploy [-n] HOST...
foo() { not code; }
EOF
}

# Tries a command again until it works.
#   $1: how often
function retry {
  local tries="$1"
  local DELAY=1
  shift
  until "$@"; do
    tries=$((tries - 1))
    if [ "$tries" -eq 0 ]; then
      log_error "gave up: $*"
      return 1
    fi
    sleep "$DELAY"
  done
}

function upload() {
  local host="$1"
  retry "$MAX_TRIES" rsync -a build/ "$host:/srv/app"
}

in_tmp() (
  cd /tmp
  "$@"
)

if [ "$DEPLOY_ENV" = production ]; then
  confirm() {
    read -r -p "really? " answer
    [ "$answer" = yes ]
  }
fi

main() {
  [ $# -gt 0 ] || { usage; exit 2; }
  for host in "$@"; do
    upload "$host"
    count=$((count + 1))
  done
}

main "$@"
