#!/usr/bin/env bash
# Copies a finished segment of the write-ahead log into the archive. PostgreSQL calls it for each segment:
#
#   archive_mode = on
#   archive_timeout = 60s
#   archive_command = '/path/to/archive-wal.sh "%p" "%f" /path/to/archive'
#
# An error makes PostgreSQL keep the segment and try again. The archive must be on another machine than the data.
set -euo pipefail
[ $# -eq 3 ] || { echo "usage: archive-wal.sh <path of the segment> <name of the segment> <archive>" >&2; exit 2; }
segment=$1 name=$2 archive=$3
if [ -e "$archive/$name" ]; then
  # PostgreSQL repeats a call whose success it could not record. Another segment with this name is another server's.
  cmp -s "$segment" "$archive/$name" && exit 0
  echo "archive-wal.sh: $archive/$name exists with another content: is this the archive of another server?" >&2
  exit 1
fi
unfinished=$archive/.$name.unfinished
cp -- "$segment" "$unfinished"
sync -- "$unfinished"
mv -- "$unfinished" "$archive/$name"
sync -- "$archive"
