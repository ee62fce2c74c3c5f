import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Transfers get their merchant and mode, which settlement statements need, and their transaction and position, which
 * sealing needs. Transfers of earlier releases get the transaction of this migration.
 */
export class Ledger1763500001040 implements MigrationInterface {
  readonly name = 'Ledger1763500001040';

  async up(db: QueryRunner): Promise<void> {
    // This update comes before the columns whose addition rewrites the table. After the rewrite all rows would belong
    // to this transaction, and PostgreSQL would check the foreign keys of each updated row again.
    await db.query(`
      SET LOCAL statement_timeout = '30min';
      ALTER TABLE transfers
        ADD COLUMN mode        text   CONSTRAINT transfers_mode CHECK (mode IN ('test', 'live')),
        ADD COLUMN merchant_id bigint;
      ALTER TABLE transfers DISABLE TRIGGER transfers_append_only;
      UPDATE transfers t SET mode = y.mode, merchant_id = y.merchant_id
        FROM payments p JOIN payables y ON y.payable_id = p.payable_id WHERE p.payment_id = t.payment_id;
      ALTER TABLE transfers ENABLE TRIGGER transfers_append_only;

      ALTER TABLE transfers
        ALTER COLUMN mode SET NOT NULL,
        ALTER COLUMN merchant_id SET NOT NULL,
        ADD COLUMN attempt_id uuid   CONSTRAINT transfers_attempt_id REFERENCES attempts (attempt_id),
        ADD COLUMN txid       xid8   NOT NULL DEFAULT pg_current_xact_id(),
        ADD COLUMN position   bigint GENERATED ALWAYS AS IDENTITY,
        DROP CONSTRAINT transfers_kind,
        ADD CONSTRAINT transfers_kind CHECK (kind IN ('capture', 'fee', 'external', 'voucher', 'refund', 'lateApproval', 'reversal')),
        ADD CONSTRAINT transfers_attempt CHECK ((kind IN ('lateApproval', 'reversal')) = (attempt_id IS NOT NULL));
      COMMENT ON COLUMN transfers.mode IS 'Mode of the payment. The account names begin with the mode.';
      COMMENT ON COLUMN transfers.merchant_id IS 'Merchant of the payment.';
      COMMENT ON COLUMN transfers.attempt_id IS 'Attempt whose approval came too late or was reversed. NULL for transfers of other kinds.';
      COMMENT ON COLUMN transfers.txid IS 'Transaction that inserted the transfer. Transfers are sealed in the order (txid, position), and only below pg_snapshot_xmin.';

      CREATE INDEX transfers_of_merchant ON transfers (merchant_id, mode, created_at);
      CREATE UNIQUE INDEX transfers_order ON transfers (txid, position);
      CREATE UNIQUE INDEX transfers_once ON transfers (payment_id, kind) WHERE kind IN ('capture', 'fee');
      DROP INDEX transfers_one_capture;
      CREATE UNIQUE INDEX transfers_once_for_attempt ON transfers (attempt_id, kind) WHERE attempt_id IS NOT NULL;

      ALTER TABLE reversals ADD COLUMN booked boolean NOT NULL DEFAULT false;
      COMMENT ON COLUMN reversals.booked IS 'Whether the ledger contains the late approval. False if an earlier release requested the reversal.';

      CREATE FUNCTION refuse_foreign_transaction() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        RAISE EXCEPTION 'A transfer belongs to the transaction that writes it' USING ERRCODE = 'check_violation', CONSTRAINT = 'transfers_txid';
      END $$;
      COMMENT ON FUNCTION refuse_foreign_transaction IS 'Rejects a txid of another transaction. A transfer with a txid in the far future would never be sealed, and its day would never be closed.';
      CREATE TRIGGER transfers_txid BEFORE INSERT ON transfers
        FOR EACH ROW WHEN (NEW.txid <> pg_current_xact_id()) EXECUTE FUNCTION refuse_foreign_transaction();

      CREATE FUNCTION fill_transfer_owner() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        SELECT y.mode, y.merchant_id INTO NEW.mode, NEW.merchant_id
          FROM payments p JOIN payables y ON y.payable_id = p.payable_id WHERE p.payment_id = NEW.payment_id;
        RETURN NEW;
      END $$;
      COMMENT ON FUNCTION fill_transfer_owner IS 'Sets mode and merchant for transfers that a replica of an earlier release inserts without them.';
      CREATE TRIGGER transfers_owner BEFORE INSERT ON transfers
        FOR EACH ROW WHEN (NEW.merchant_id IS NULL) EXECUTE FUNCTION fill_transfer_owner();
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
