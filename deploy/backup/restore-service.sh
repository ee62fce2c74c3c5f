#!/usr/bin/env bash
# Replaces the schema of one service by its state in a restored server, in one transaction.
#
#   restore-service.sh <URL of the restored server> <URL of the platform's server> <schema>
#
# For a server that all services share: restore it beside the running one (restore-server.sh, another port), stop the service,
# and run this script as a superuser. Only for a server that was restored from a backup of the same server: the ids of its
# transactions must be below the current ones (ADR 1). Then run mark-restored.sql for this schema before the service starts.
# SVC_PG_BIN is the folder of pg_dump and psql with the server's major version.
set -euo pipefail
[ $# -eq 3 ] || { echo "usage: restore-service.sh <restored server> <platform's server> <schema>" >&2; exit 2; }
restored=$1 platform=$2 schema=$3
[[ $schema =~ ^[a-z_]{1,63}$ ]] || { echo "restore-service.sh: the schema must be a name such as payment_processor" >&2; exit 2; }
bin=${SVC_PG_BIN:+$SVC_PG_BIN/}
identify() { "${bin}psql" --no-psqlrc -XAtq -d "$1" -c 'SELECT system_identifier FROM pg_control_system()'; }
[ "$(identify "$restored")" = "$(identify "$platform")" ] || { echo "restore-service.sh: the two are not the same server" >&2; exit 1; }
dump=$(mktemp)
trap 'rm -f -- "$dump"' EXIT
"${bin}pg_dump" --schema="$schema" --file="$dump" -d "$restored"
{
  echo 'SET lock_timeout = '"'30s'"';'
  echo "DROP SCHEMA $schema CASCADE;"
  cat -- "$dump"
} | "${bin}psql" --no-psqlrc -Xq --single-transaction -v ON_ERROR_STOP=1 -o /dev/null -d "$platform"
