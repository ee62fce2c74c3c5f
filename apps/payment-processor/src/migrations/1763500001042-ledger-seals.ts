import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The hash chain over the ledger and the root hashes of its days. Both are append-only, like the ledger. */
export class LedgerSeals1763500001042 implements MigrationInterface {
  readonly name = 'LedgerSeals1763500001042';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE ledger_seals (
        seal_number    bigint      PRIMARY KEY CONSTRAINT ledger_seals_number CHECK (seal_number > 0),
        previous_hash  bytea       NOT NULL CONSTRAINT ledger_seals_previous_hash CHECK (octet_length(previous_hash) = 32),
        hash           bytea       NOT NULL CONSTRAINT ledger_seals_hash CHECK (octet_length(hash) = 32),
        last_txid      xid8        NOT NULL,
        last_position  bigint      NOT NULL,
        transfer_count int         NOT NULL CONSTRAINT ledger_seals_transfer_count CHECK (transfer_count BETWEEN 1 AND 10000),
        transfer_ids   uuid[]      NOT NULL CONSTRAINT ledger_seals_transfer_ids CHECK (cardinality(transfer_ids) = transfer_count),
        transfer_hashes bytea[]    NOT NULL CONSTRAINT ledger_seals_transfer_hashes CHECK (cardinality(transfer_hashes) = transfer_count),
        sealed_at      timestamptz NOT NULL
      );
      COMMENT ON TABLE ledger_seals IS 'Hash chain over the transfers in the order (txid, position). Each seal contains the hash of the previous seal.';
      COMMENT ON COLUMN ledger_seals.hash IS 'SHA-256 of previous_hash followed by transfer_hashes.';
      COMMENT ON COLUMN ledger_seals.last_txid IS 'With last_position, identifies the last transfer of the seal. The next seal begins after it.';
      COMMENT ON COLUMN ledger_seals.transfer_hashes IS 'SHA-256 of each transfer, so that a verification can identify a changed transfer.';

      CREATE TABLE ledger_days (
        day         date        PRIMARY KEY,
        seal_number bigint      NOT NULL CONSTRAINT ledger_days_seal_number CHECK (seal_number >= 0),
        root        bytea       NOT NULL CONSTRAINT ledger_days_root CHECK (octet_length(root) = 32),
        closed_at   timestamptz NOT NULL
      );
      COMMENT ON TABLE ledger_days IS 'Closed days (UTC). All transfers that were created on a closed day are sealed. Every day up to the newest row is closed.';
      COMMENT ON COLUMN ledger_days.seal_number IS 'Newest seal when the day was closed. 0 if there was no seal yet.';
      COMMENT ON COLUMN ledger_days.root IS 'Hash of that seal. It is logged too. With a copy of the log, an auditor can detect that the chain was rewritten.';

      CREATE OR REPLACE FUNCTION refuse_ledger_change() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        RAISE EXCEPTION 'The ledger is append-only' USING ERRCODE = 'check_violation', CONSTRAINT = TG_TABLE_NAME || '_append_only';
      END $$;
      CREATE TRIGGER ledger_seals_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_seals
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();
      CREATE TRIGGER ledger_days_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_days
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
