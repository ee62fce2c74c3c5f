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
      COMMENT ON COLUMN payments.reference IS 'Idempotency key of a payment from a page (C7). For a partner payment, the id of the payment, because partner_references contains the idempotency key.';
      COMMENT ON COLUMN payments.voucher_amount IS 'Cents that vouchers cover, as the partner reported them (P6).';
      COMMENT ON COLUMN payments.partner IS 'Organisation, customer, merchant and invoice of a payment through the main API. NULL for a payment on a page.';

      CREATE TABLE partner_references (
        organisation_id uuid NOT NULL,
        mode            text NOT NULL CONSTRAINT partner_references_mode CHECK (mode IN ('test', 'live')),
        reference       uuid NOT NULL,
        fingerprint     text NOT NULL CONSTRAINT partner_references_fingerprint CHECK (length(fingerprint) = 64),
        payment_id      uuid NOT NULL CONSTRAINT partner_references_payment UNIQUE REFERENCES payments (payment_id),
        PRIMARY KEY (organisation_id, mode, reference)
      );
      COMMENT ON TABLE partner_references IS 'Idempotency keys of partners (C7). A key and its payment are committed in one transaction.';
      COMMENT ON COLUMN partner_references.fingerprint IS 'SHA-256 of the validated request without card data. The same reference with another fingerprint is rejected.';

      CREATE INDEX payables_by_code ON payables ((source ->> 'code'));
      COMMENT ON INDEX payables_by_code IS 'Finds the payable of a scanned code.';

      ALTER TABLE transfers DROP CONSTRAINT transfers_kind,
        ADD CONSTRAINT transfers_kind CHECK (kind IN ('capture', 'external', 'voucher'));

      CREATE TABLE known_merchants (
        merchant_id bigint PRIMARY KEY,
        name        text   NOT NULL,
        features    jsonb  NOT NULL,
        grants      jsonb  NOT NULL,
        version     bigint NOT NULL
      );
      COMMENT ON TABLE known_merchants IS 'Read model of merchants: the options of payers, and the partners that may report vouchers and external payments (P6). Only events of identity change it.';

      CREATE TABLE known_sites (
        site_id        bigint PRIMARY KEY,
        merchant_id    bigint NOT NULL,
        site_reference text   NOT NULL,
        version        bigint NOT NULL
      );
      COMMENT ON TABLE known_sites IS 'Read model of the tills and web shops of merchants, with the references that identity gave them. Only events of identity change it.';

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
      COMMENT ON TABLE cards IS
        'Stored cards (P7). The acquirer stores the card number, and this table a token for it.';
      COMMENT ON COLUMN cards.token IS 'Token with which the client pays.';
      COMMENT ON COLUMN cards.customer_reference IS 'Customer who owns the card. NULL if the card was stored with a service token. The organisation owns such a card.';
      COMMENT ON COLUMN cards.forgotten_at IS 'When the acquirer confirmed that it has deleted the card number.';
      CREATE INDEX cards_to_forget ON cards (deleted_at) WHERE deleted_at IS NOT NULL AND forgotten_at IS NULL;

      CREATE INDEX verifications_waiting ON verifications (asked_at NULLS FIRST) WHERE open;
      COMMENT ON INDEX verifications_waiting IS 'For the job that queries the acquirer about open verifications of partner payments, because possibly no client polls these payments.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
