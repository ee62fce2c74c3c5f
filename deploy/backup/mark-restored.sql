-- Records a restore, so that the services ask for the events that they have forgotten, and payment-processor stays closed for
-- payments until it was compared with the bank (docs/backup.md). Run this script as a superuser in the platform's database
-- after the restore, before any of the restored services starts. The script reads its parameters from settings of the session:
--
--   PGOPTIONS='-c svc.restored_to=2026-11-22T08:15:00.000Z' psql -d svc -f mark-restored.sql
--   PGOPTIONS='-c svc.restored_to=2026-11-22T08:15:00.000Z -c svc.restored_schema=payment_processor' psql -d svc -f mark-restored.sql
--
-- Without svc.restored_schema, all services were restored.
DO $mark$
DECLARE
  restored_to timestamptz := current_setting('svc.restored_to');
  wanted text := nullif(current_setting('svc.restored_schema', true), '');
  schema text;
  earlier timestamptz;
  marked int := 0;
BEGIN
  IF pg_is_in_recovery() THEN
    RAISE EXCEPTION 'The server is still reading the archive: run this script again when pg_is_in_recovery() is false';
  END IF;
  FOR schema IN
    SELECT n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relname = 'restores' AND c.relkind = 'r' AND (wanted IS NULL OR n.nspname = wanted) ORDER BY 1
  LOOP
    -- The backup may be of a time when an earlier restore was still open. Its movements are searched again.
    EXECUTE format('UPDATE %I.restores SET replays_requested_at = coalesce(replays_requested_at, now()), replayed_at = coalesce(replayed_at, now()),
                           closed_at = now() WHERE closed_at IS NULL RETURNING restored_to', schema) INTO earlier;
    EXECUTE format('INSERT INTO %I.restores (restored_to) VALUES ($1)', schema) USING least(earlier, restored_to);
    marked := marked + 1;
  END LOOP;
  IF marked = 0 THEN RAISE EXCEPTION 'There is no schema of a service here, or none named %', wanted; END IF;
END
$mark$;
