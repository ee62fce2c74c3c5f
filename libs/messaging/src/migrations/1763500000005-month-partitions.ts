import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates the partition of a month even if the default partition contains rows of that month. These rows are moved. */
export class MonthPartitions1763500000005 implements MigrationInterface {
  readonly name = 'MonthPartitions1763500000005';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE OR REPLACE FUNCTION ensure_month_partitions(parent text, first_day date, months int) RETURNS void
      LANGUAGE plpgsql AS $$
      DECLARE
        month_start date;
        partition text;
        from_time timestamptz;
        to_time timestamptz;
      BEGIN
        -- Without this lock, two concurrent processes could both try to create a partition, and one would fail.
        PERFORM pg_advisory_xact_lock(hashtext('ensure_month_partitions'));
        FOR i IN 0 .. months - 1 LOOP
          month_start := (date_trunc('month', first_day) + make_interval(months => i))::date;
          partition := parent || '_' || to_char(month_start, 'YYYY_MM');
          CONTINUE WHEN to_regclass(quote_ident(partition)) IS NOT NULL;
          from_time := month_start::timestamp AT TIME ZONE 'UTC';
          to_time := (month_start + make_interval(months => 1))::timestamp AT TIME ZONE 'UTC';
          BEGIN
            EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)', partition, parent, from_time, to_time);
          EXCEPTION WHEN check_violation THEN
            -- The default partition contains rows of that month. Lock it before the rows are moved, so that no other
            -- transaction inserts such a row before the new partition is attached.
            EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', parent || '_default');
            EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', partition, parent);
            EXECUTE format('WITH moved AS (DELETE FROM %I WHERE occurred_at >= $1 AND occurred_at < $2 RETURNING *) INSERT INTO %I SELECT * FROM moved',
              parent || '_default', partition) USING from_time, to_time;
            EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, partition, from_time, to_time);
          END;
        END LOOP;
      END $$;
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
