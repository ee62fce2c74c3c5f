import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Stores the till of each static code, because the page of a static code shows only invoices of its own till. */
export class TillOfStaticCodes1763500003171 implements MigrationInterface {
  readonly name = 'TillOfStaticCodes1763500003171';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      ALTER TABLE known_till_codes
        DROP CONSTRAINT known_till_codes_payable,
        ADD CONSTRAINT known_till_codes_payable CHECK (num_nulls(invoice_reference, tries_max, payable_state, payable_version, tries) IN (0, 5)),
        ADD CONSTRAINT known_till_codes_till CHECK (num_nulls(mode, site_reference) IN (0, 2) AND (invoice_reference IS NULL OR mode IS NOT NULL));
      COMMENT ON COLUMN known_till_codes.site_reference IS 'Identifier of the till. A static code shows invoices of the same mode, site and till.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
