import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The role that runs migrations owns the tables. The role of the running service may only read and write them (ADR 45).
 * This migration creates the two functions that declare exceptions from this rule, and applies them to the first tables
 * and functions.
 */
export class AppendOnlyByPrivilege1763500000008 implements MigrationInterface {
  readonly name = 'AppendOnlyByPrivilege1763500000008';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE FUNCTION revoke_from_others(relation regclass, privileges text) RETURNS void
      LANGUAGE plpgsql AS $$
      DECLARE
        other text;
      BEGIN
        FOR other IN
          SELECT DISTINCT CASE WHEN acl.grantee = 0 THEN 'PUBLIC' ELSE acl.grantee::regrole::text END
            FROM pg_class c, aclexplode(c.relacl) acl WHERE c.oid = relation AND acl.grantee <> c.relowner
        LOOP
          EXECUTE format('REVOKE %s ON %s FROM %s', privileges, relation, other);
        END LOOP;
      END $$;
      COMMENT ON FUNCTION revoke_from_others IS 'For migrations: revokes privileges on a table from every role except the owner of the table.';

      CREATE FUNCTION run_as_owner(work regprocedure) RETURNS void
      LANGUAGE plpgsql AS $$
      BEGIN
        EXECUTE format('ALTER FUNCTION %s SECURITY DEFINER SET search_path = %I, pg_temp', work, current_schema());
      END $$;
      COMMENT ON FUNCTION run_as_owner IS 'For migrations: the function runs with the privileges of its owner, and searches only this schema.';

      -- The function now also revokes all privileges on a new partition. Only the owner accesses partitions directly.
      -- The service accesses its rows with the privileges on the parent table.
      CREATE OR REPLACE FUNCTION ensure_month_partitions(parent text, first_day date, months int) RETURNS void
      LANGUAGE plpgsql AS $$
      DECLARE
        default_partition regclass := to_regclass(quote_ident(parent || '_default'));
        month_start date;
        partition text;
        from_time timestamptz;
        to_time timestamptz;
      BEGIN
        FOR i IN 0 .. months - 1 LOOP
          month_start := (date_trunc('month', first_day) + make_interval(months => i))::date;
          partition := parent || '_' || to_char(month_start, 'YYYY_MM');
          CONTINUE WHEN to_regclass(quote_ident(partition)) IS NOT NULL;
          -- A concurrent caller waits here for this lock, and then finds the partition. ATTACH PARTITION needs the same
          -- lock mode, so this transaction never waits for a stronger lock on this table.
          EXECUTE format('LOCK TABLE ONLY %I IN SHARE UPDATE EXCLUSIVE MODE', parent);
          CONTINUE WHEN to_regclass(quote_ident(partition)) IS NOT NULL;
          from_time := month_start::timestamp AT TIME ZONE 'UTC';
          to_time := (month_start + make_interval(months => 1))::timestamp AT TIME ZONE 'UTC';
          EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', partition, parent);
          PERFORM revoke_from_others(quote_ident(partition)::regclass, 'ALL');
          IF default_partition IS NOT NULL THEN
            -- Lock the default partition before its rows of this month are moved, so that no other transaction inserts
            -- such a row before the new partition is attached.
            EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', default_partition);
            EXECUTE format('WITH moved AS (DELETE FROM %s WHERE occurred_at >= $1 AND occurred_at < $2 RETURNING *) INSERT INTO %I SELECT * FROM moved',
              default_partition, partition) USING from_time, to_time;
          END IF;
          EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, partition, from_time, to_time);
        END LOOP;
      END $$;
      SELECT run_as_owner('ensure_month_partitions(text, date, int)');

      SELECT revoke_from_others('event_log', 'UPDATE, DELETE, TRUNCATE');
      SELECT revoke_from_others('migrations', 'INSERT, UPDATE, DELETE, TRUNCATE');
      SELECT revoke_from_others(inhrelid::regclass, 'ALL') FROM pg_inherits
       WHERE inhparent IN ('event_log'::regclass, 'inbox'::regclass);
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
