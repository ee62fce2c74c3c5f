import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the time at which a job next requests the deletion of a deleted card from the acquirer's vault. */
export class ForgetAfter1763500001003 implements MigrationInterface {
  readonly name = 'ForgetAfter1763500001003';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      ALTER TABLE cards ADD COLUMN forget_after timestamptz;
      COMMENT ON COLUMN cards.forget_after IS 'When the job next requests the acquirer to delete the card number. NULL before the card is deleted here, and after the acquirer has confirmed the request.';
      UPDATE cards SET forget_after = deleted_at WHERE deleted_at IS NOT NULL AND forgotten_at IS NULL;
      ALTER TABLE cards ADD CONSTRAINT cards_forget_after
        CHECK ((forget_after IS NOT NULL) = (deleted_at IS NOT NULL AND forgotten_at IS NULL));
      CREATE INDEX cards_to_be_forgotten ON cards (forget_after) WHERE forget_after IS NOT NULL;
      DROP INDEX cards_to_forget;
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
