import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The role of the service may only insert into the append-only tables: the ledger, its seals and days (ADR 45).
 * Triggers enforce the same for the owner. The append-only tables are found by their trigger against TRUNCATE.
 */
export class AppendOnlyLedger1763500001060 implements MigrationInterface {
  readonly name = 'AppendOnlyLedger1763500001060';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      SELECT revoke_from_others(books.oid, 'UPDATE, DELETE, TRUNCATE')
        FROM (SELECT DISTINCT tgrelid AS oid FROM pg_trigger WHERE tgtype & 32 <> 0) books
        JOIN pg_class c ON c.oid = books.oid WHERE c.relnamespace = current_schema()::regnamespace
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
