#!/usr/bin/env bash
# Makes a base backup of a PostgreSQL server, verifies it, and deletes backups and archived segments that no backup within
# the retention needs. Run it once a day.
#
#   base-backup.sh <backups> <archive> <days to keep>
#
# libpq's variables (PGHOST, PGPORT, PGUSER, PGPASSFILE) name the server and a role with REPLICATION. The programs pg_basebackup, pg_verifybackup
# and pg_archivecleanup must have the server's major version; SVC_PG_BIN is their folder.
set -euo pipefail
[ $# -eq 3 ] || { echo "usage: base-backup.sh <backups> <archive> <days to keep>" >&2; exit 2; }
backups=$1 archive=$2 days=$3
[[ $days =~ ^[1-9][0-9]{0,3}$ ]] || { echo "base-backup.sh: the days to keep must be a whole number" >&2; exit 2; }
bin=${SVC_PG_BIN:+$SVC_PG_BIN/}
target=$backups/$(date -u +%Y%m%dT%H%M%SZ)
umask 077
mkdir -p -- "$backups"
# A backup that was not finished or is damaged keeps this name, and is never restored.
"${bin}pg_basebackup" --pgdata "$target.unfinished" --wal-method stream --checkpoint fast --manifest-checksums SHA256 --no-password
"${bin}pg_verifybackup" --quiet "$target.unfinished"
mv -- "$target.unfinished" "$target"

# The newest backup is always kept.
expired=$(date -u -d "-$days days" +%Y%m%dT%H%M%SZ)
kept=
while read -r backup; do
  if [[ $(basename -- "$backup") < $expired && $backup != "$target" ]]; then rm -rf -- "$backup"; else kept=${kept:-$backup}; fi
done < <(find "$backups" -mindepth 1 -maxdepth 1 -type d -name '*Z' | sort)
# The first line of backup_label names the first segment that the oldest backup needs.
first=$(sed -n 's/^START WAL LOCATION: .* (file \([0-9A-F]\{24\}\))$/\1/p' "$kept/backup_label")
[ -n "$first" ] && "${bin}pg_archivecleanup" "$archive" "$first"
echo "$target"
