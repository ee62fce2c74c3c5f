import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Payments made through the main API: their owners, their methods, and the terms of merchants for partners. */
export class PartnerPayments1763500001002 implements MigrationInterface {
  readonly name = 'PartnerPayments1763500001002';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      ALTER TABLE payments
        ADD COLUMN method_type    text   NOT NULL DEFAULT 'Card' CONSTRAINT payments_method_type CHECK (method_type IN ('Card', 'External', 'Voucher')),
        ADD COLUMN voucher_amount bigint NOT NULL DEFAULT 0,
        ADD COLUMN partner        jsonb,
        ADD CONSTRAINT payments_voucher_amount CHECK (voucher_amount BETWEEN 0 AND amount),
        ADD CONSTRAINT payments_partners CHECK (partner IS NOT NULL OR (method_type = 'Card' AND voucher_amount = 0)),
        DROP CONSTRAINT payments_method_label,
        ADD CONSTRAINT payments_method_label CHECK (CASE method_type WHEN 'Card' THEN method_label ~ '^[*]{4} [0-9]{4}$' ELSE length(method_label) BETWEEN 1 AND 100 END),
        DROP CONSTRAINT payments_processed,
        ADD CONSTRAINT payments_processed CHECK (processed_amount = CASE WHEN state = 'success' THEN amount - voucher_amount + tip_amount ELSE 0 END);
      COMMENT ON COLUMN payments.reference IS 'The page''s idempotency key for this payment (C7); of a partner''s payment its own id, because that one''s key stands in partner_references.';
      COMMENT ON COLUMN payments.voucher_amount IS 'Cents that vouchers cover, as the partner said (P6).';
      COMMENT ON COLUMN payments.partner IS 'What a payment made through the main API says of organisation, customer, merchant and invoice; NULL for one made on a page.';

      CREATE TABLE partner_references (
        organisation_id uuid NOT NULL,
        mode            text NOT NULL CONSTRAINT partner_references_mode CHECK (mode IN ('test', 'live')),
        reference       uuid NOT NULL,
        fingerprint     text NOT NULL CONSTRAINT partner_references_fingerprint CHECK (length(fingerprint) = 64),
        payment_id      uuid NOT NULL CONSTRAINT partner_references_payment UNIQUE REFERENCES payments (payment_id),
        PRIMARY KEY (organisation_id, mode, reference)
      );
      COMMENT ON TABLE partner_references IS 'The idempotency keys of partners (C7), committed with the payment they made.';
      COMMENT ON COLUMN partner_references.fingerprint IS 'SHA-256 of the validated request without card data: the same reference with another one is refused.';

      CREATE INDEX payables_by_code ON payables ((source ->> 'code'));
      COMMENT ON INDEX payables_by_code IS 'What a code that was scanned stands for.';

      ALTER TABLE transfers DROP CONSTRAINT transfers_kind,
        ADD CONSTRAINT transfers_kind CHECK (kind IN ('capture', 'external', 'voucher'));

      CREATE TABLE known_merchants (
        merchant_id bigint PRIMARY KEY,
        name        text   NOT NULL,
        features    jsonb  NOT NULL,
        grants      jsonb  NOT NULL,
        version     bigint NOT NULL
      );
      COMMENT ON TABLE known_merchants IS 'What identity says of merchants: what payers may do, and what is taken a partner''s word for (P6). Filled from events only.';

      CREATE TABLE known_sites (
        site_id        bigint PRIMARY KEY,
        merchant_id    bigint NOT NULL,
        site_reference text   NOT NULL,
        version        bigint NOT NULL
      );
      COMMENT ON TABLE known_sites IS 'What identity calls the till or web shop of a hosted session. Filled from events only.';

      CREATE TABLE cards (
        token              text        PRIMARY KEY CONSTRAINT cards_token CHECK (length(token) BETWEEN 1 AND 100),
        organisation_id    uuid        NOT NULL,
        mode               text        NOT NULL CONSTRAINT cards_mode CHECK (mode IN ('test', 'live')),
        customer_reference uuid,
        acquirer           text        NOT NULL,
        vault_token        text        NOT NULL CONSTRAINT cards_vault_token CHECK (length(vault_token) BETWEEN 1 AND 100),
        card_mask          text        NOT NULL CONSTRAINT cards_mask CHECK (card_mask ~ '^[*]{4} [0-9]{4}$'),
        stored_at          timestamptz NOT NULL,
        deleted_at         timestamptz,
        forgotten_at       timestamptz,
        CONSTRAINT cards_forgotten CHECK (forgotten_at IS NULL OR deleted_at IS NOT NULL)
      );
      COMMENT ON TABLE cards IS 'Stored cards (P7): the acquirer keeps the number, this service what stands for it.';
      COMMENT ON COLUMN cards.token IS 'What the client pays with.';
      COMMENT ON COLUMN cards.customer_reference IS 'Whose it is; NULL where a service token stored it: then it is the organisation''s.';
      COMMENT ON COLUMN cards.forgotten_at IS 'When the acquirer confirmed that it does not keep the number any more.';
      CREATE INDEX cards_to_forget ON cards (deleted_at) WHERE deleted_at IS NOT NULL AND forgotten_at IS NULL;

      CREATE INDEX verifications_waiting ON verifications (asked_at NULLS FIRST) WHERE open;
      COMMENT ON INDEX verifications_waiting IS 'Nobody may be looking at the payment of a partner, so whether its payer has returned is asked for.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
