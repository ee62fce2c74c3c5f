import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A merchant's account at the acquirer; each attempt stores the account of its charge. */
export class MerchantAccounts1763500001030 implements MigrationInterface {
  readonly name = 'MerchantAccounts1763500001030';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE merchant_accounts (
        merchant_id bigint      NOT NULL,
        mode        text        NOT NULL CONSTRAINT merchant_accounts_mode CHECK (mode IN ('test', 'live')),
        version     bigint      NOT NULL CONSTRAINT merchant_accounts_version CHECK (version > 0),
        acquirer    text        NOT NULL CONSTRAINT merchant_accounts_acquirer CHECK (length(acquirer) BETWEEN 1 AND 100),
        account     text        NOT NULL CONSTRAINT merchant_accounts_account CHECK (length(account) BETWEEN 1 AND 100),
        set_at      timestamptz NOT NULL,
        set_by      text        NOT NULL CONSTRAINT merchant_accounts_set_by CHECK (length(set_by) BETWEEN 1 AND 100),
        PRIMARY KEY (merchant_id, mode, version)
      );
      COMMENT ON TABLE merchant_accounts IS 'Accounts of merchants at acquirers, as administrators set them: a row for each change, the newest counts.';
      COMMENT ON COLUMN merchant_accounts.account IS 'What the acquirer calls the account (its merchant id).';
      COMMENT ON COLUMN merchant_accounts.set_by IS 'Fingerprint of the administration key.';

      -- Rows of releases before have the default, and so have those of a replica of such a release. None is read for it.
      ALTER TABLE attempts
        ADD COLUMN account text NOT NULL DEFAULT 'unnamed',
        ADD CONSTRAINT attempts_account CHECK (length(account) BETWEEN 1 AND 100) NOT VALID;
      COMMENT ON COLUMN attempts.account IS 'The merchant''s account at the acquirer; unnamed where the charge named none.';
      ALTER TABLE verifications
        ADD COLUMN acquirer text NOT NULL DEFAULT 'simulated',
        ADD COLUMN account text NOT NULL DEFAULT 'unnamed',
        ADD CONSTRAINT verifications_acquirer CHECK (length(acquirer) BETWEEN 1 AND 100) NOT VALID,
        ADD CONSTRAINT verifications_account CHECK (length(account) BETWEEN 1 AND 100) NOT VALID;
      COMMENT ON COLUMN verifications.acquirer IS 'The acquirer that asked for the verification; the charge that follows goes there, too.';
      COMMENT ON COLUMN verifications.account IS 'As attempts.account.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
