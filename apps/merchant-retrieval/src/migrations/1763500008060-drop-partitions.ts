import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Only the owner of a table may drop the table (ADR 45). This function lets the service drop the partitions of the
 * table payments, but no other table.
 */
export class DropPartitions1763500008060 implements MigrationInterface {
  readonly name = 'DropPartitions1763500008060';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE FUNCTION drop_payments_partition(partition text) RETURNS void
      LANGUAGE plpgsql AS $$
      BEGIN
        IF NOT EXISTS (SELECT FROM pg_inherits
                        WHERE inhparent = 'payments'::regclass AND inhrelid = to_regclass(quote_ident(partition))) THEN
          RAISE EXCEPTION '% is not a partition of payments', partition USING ERRCODE = 'insufficient_privilege';
        END IF;
        EXECUTE format('DROP TABLE %I', partition);
      END $$;
      SELECT run_as_owner('drop_payments_partition(text)');
      SELECT revoke_from_others(inhrelid::regclass, 'ALL') FROM pg_inherits WHERE inhparent = 'payments'::regclass;
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
