export const RESTORES = `
  CREATE TABLE restore_repairs (
    restore_id  uuid        PRIMARY KEY CONSTRAINT restore_repairs_restore REFERENCES restores (restore_id),
    prepared_at timestamptz NOT NULL,
    repaired_at timestamptz,
    unresolved  int         CONSTRAINT restore_repairs_unresolved CHECK (unresolved >= 0),
    CONSTRAINT restore_repairs_repaired CHECK ((repaired_at IS NULL) = (unresolved IS NULL))
  );
  COMMENT ON TABLE restore_repairs IS 'Comparisons with the bank after restores of this database.';
  COMMENT ON COLUMN restore_repairs.prepared_at IS 'When the unfinished payments got versions above all versions that the restore may have forgotten.';
  COMMENT ON COLUMN restore_repairs.repaired_at IS 'End of the newest comparison with the bank.';
  COMMENT ON COLUMN restore_repairs.unresolved IS 'Number of movements that the newest comparison could neither record nor reverse.';

  CREATE TABLE forgotten_charges (
    charge_id          uuid        PRIMARY KEY,
    restore_id         uuid        NOT NULL CONSTRAINT forgotten_charges_restore REFERENCES restores (restore_id),
    acquirer           text        NOT NULL CONSTRAINT forgotten_charges_acquirer CHECK (length(acquirer) BETWEEN 1 AND 100),
    account            text        NOT NULL CONSTRAINT forgotten_charges_account CHECK (length(account) BETWEEN 1 AND 100),
    mode               text        NOT NULL CONSTRAINT forgotten_charges_mode CHECK (mode IN ('test', 'live')),
    merchant_id        bigint      NOT NULL,
    payment_reference  text        NOT NULL CONSTRAINT forgotten_charges_payment_reference CHECK (length(payment_reference) BETWEEN 1 AND 100),
    acquirer_reference text        NOT NULL CONSTRAINT forgotten_charges_acquirer_reference CHECK (length(acquirer_reference) BETWEEN 1 AND 100),
    amount             bigint      NOT NULL CONSTRAINT forgotten_charges_amount CHECK (amount BETWEEN 1 AND 200000000000),
    currency           text        NOT NULL CONSTRAINT forgotten_charges_currency CHECK (currency ~ '^[A-Z]{3}$'),
    charged_at         timestamptz NOT NULL,
    found_at           timestamptz NOT NULL,
    next_request_at    timestamptz,
    reversed_at        timestamptz,
    CONSTRAINT forgotten_charges_open CHECK ((next_request_at IS NULL) = (reversed_at IS NOT NULL))
  );
  COMMENT ON TABLE forgotten_charges IS 'Charges of the bank that a restore of this database has forgotten and that no other service has reported as a success. They are reversed.';
  COMMENT ON COLUMN forgotten_charges.charge_id IS 'Idempotency key of the charge: the attempt_id that the database contained before the restore.';
  COMMENT ON COLUMN forgotten_charges.charged_at IS 'Time of the charge according to the acquirer.';
  COMMENT ON COLUMN forgotten_charges.next_request_at IS 'When the next reversal request is sent. NULL after the acquirer has confirmed the reversal.';
  CREATE INDEX forgotten_charges_due ON forgotten_charges (acquirer, next_request_at) WHERE next_request_at IS NOT NULL;
  CREATE INDEX forgotten_charges_found ON forgotten_charges (found_at);
  CREATE INDEX forgotten_charges_reversed ON forgotten_charges (reversed_at) WHERE reversed_at IS NOT NULL;
`;
