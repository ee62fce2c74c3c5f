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
      COMMENT ON TABLE merchant_accounts IS 'Accounts of merchants at acquirers, as set by administrators. Each change inserts a row. The newest row applies.';
      COMMENT ON COLUMN merchant_accounts.account IS 'Id of the account at the acquirer (merchant id).';
      COMMENT ON COLUMN merchant_accounts.set_by IS 'Fingerprint of the administration key that set the account.';

      -- Rows of earlier releases get the default, also rows that their replicas insert during a rollout. PostgreSQL
      -- does not scan the existing rows for these changes.
      ALTER TABLE attempts
        ADD COLUMN account text NOT NULL DEFAULT 'unnamed',
        ADD CONSTRAINT attempts_account CHECK (length(account) BETWEEN 1 AND 100) NOT VALID;
      COMMENT ON COLUMN attempts.account IS 'Account of the merchant at the acquirer. unnamed: the charge contained no account.';
      ALTER TABLE verifications
        ADD COLUMN acquirer text NOT NULL DEFAULT 'simulated',
        ADD COLUMN account text NOT NULL DEFAULT 'unnamed',
        ADD CONSTRAINT verifications_acquirer CHECK (length(acquirer) BETWEEN 1 AND 100) NOT VALID,
        ADD CONSTRAINT verifications_account CHECK (length(account) BETWEEN 1 AND 100) NOT VALID;
      COMMENT ON COLUMN verifications.acquirer IS 'Acquirer that required the verification. The charge after the verification uses the same acquirer.';
      COMMENT ON COLUMN verifications.account IS
        'Account at this acquirer. The value unnamed has the same meaning as in attempts.account.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
