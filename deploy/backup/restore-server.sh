#!/usr/bin/env bash
# Prepares a data directory that PostgreSQL recovers to a point in time when it starts.
#
#   restore-server.sh <backup> <archive> <new data directory> <time>
#
# The time has a time zone: 2026-11-22T08:15:00.000Z. Transactions that were committed after it are not restored. Start
# the server afterwards; it ends the recovery by itself. Then run mark-restored.sql before any service starts.
set -euo pipefail
[ $# -eq 4 ] || { echo "usage: restore-server.sh <backup> <archive> <new data directory> <time>" >&2; exit 2; }
backup=$1 archive=$2 data=$3 time=$4
[[ $time =~ ^[0-9]{4}-[0-9]{2}-[0-9]{2}[T\ ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?(Z|[+-][0-9]{2}:?[0-9]{2})$ ]] ||
  { echo "restore-server.sh: the time must have a time zone: 2026-11-22T08:15:00.000Z" >&2; exit 2; }
[[ $archive != *[\'\"\ ]* ]] || { echo "restore-server.sh: the path of the archive must not contain quotes or spaces" >&2; exit 2; }
[ -f "$backup/backup_label" ] || { echo "restore-server.sh: $backup is not a base backup" >&2; exit 1; }
[ ! -e "$data" ] || { echo "restore-server.sh: $data exists; move it away, it may be needed" >&2; exit 1; }
cp -a -- "$backup" "$data"
chmod 700 -- "$data"
# PostgreSQL reads only numeric time zones here.
cat >> "$data/postgresql.auto.conf" <<CONF
restore_command = 'cp $archive/%f "%p"'
recovery_target_time = '${time/Z/+00}'
recovery_target_action = 'promote'
recovery_target_timeline = 'latest'
CONF
touch -- "$data/recovery.signal"
