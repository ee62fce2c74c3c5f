import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A hosted payment stores the merchant's name and the site's reference at its acceptance, as a partner's payment does.
 * Existing rows have NULL, which satisfies the constraints. Therefore the constraints are NOT VALID, which avoids a
 * scan.
 */
export class MerchantOfPayment1763500001006 implements MigrationInterface {
  readonly name = 'MerchantOfPayment1763500001006';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      ALTER TABLE payments
        ADD COLUMN merchant_name text,
        ADD COLUMN site_reference text,
        ADD CONSTRAINT payments_merchant_name CHECK (length(merchant_name) BETWEEN 1 AND 100) NOT VALID,
        ADD CONSTRAINT payments_site_reference CHECK (length(site_reference) BETWEEN 1 AND 100) NOT VALID;
      COMMENT ON COLUMN payments.merchant_name IS 'Name of the merchant when a hosted payment was accepted. NULL if the name was unknown. NULL also for a partner payment, whose merchant is in the column partner.';
      COMMENT ON COLUMN payments.site_reference IS
        'Reference of the site at that time. NULL in the same cases as merchant_name.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
