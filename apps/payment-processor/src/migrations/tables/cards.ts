export const CARDS = `
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
  CREATE INDEX merchant_accounts_of_account ON merchant_accounts (acquirer, mode, account);
  COMMENT ON TABLE merchant_accounts IS 'Accounts of merchants at acquirers, as set by administrators. Each change inserts a row. The newest row applies.';
  COMMENT ON COLUMN merchant_accounts.account IS 'Id of the account at the acquirer (merchant id).';
  COMMENT ON COLUMN merchant_accounts.set_by IS 'Fingerprint of the administration key that set the account.';

  CREATE TABLE card_keys (
    kid                uuid        PRIMARY KEY,
    version            bigint      NOT NULL CONSTRAINT card_keys_one_version UNIQUE,
    public_jwk         jsonb       NOT NULL,
    sealed_private_key text,
    current            boolean     CONSTRAINT card_keys_current CHECK (current),
    created_at         timestamptz NOT NULL,
    created_by         text        NOT NULL CONSTRAINT card_keys_created_by CHECK (length(created_by) BETWEEN 1 AND 100),
    replaced_at        timestamptz,
    CONSTRAINT card_keys_one_current UNIQUE (current),
    CONSTRAINT card_keys_replaced CHECK ((current IS NULL) = (replaced_at IS NOT NULL)),
    CONSTRAINT card_keys_current_opens CHECK (current IS NULL OR sealed_private_key IS NOT NULL)
  );
  COMMENT ON TABLE card_keys IS 'Key pairs for card data. Pages and SDKs encrypt card data with the public key. The private key is stored encrypted (P8). Each rotation inserts a row. Rows are never deleted.';
  COMMENT ON COLUMN card_keys.version IS 'aggregateVersion of the event that published the key.';
  COMMENT ON COLUMN card_keys.sealed_private_key IS 'NULL when the key no longer decrypts cards.';
  COMMENT ON COLUMN card_keys.current IS 'True for the published key, NULL for older keys.';
  COMMENT ON COLUMN card_keys.created_by IS 'Fingerprint of the administration key that requested the rotation. The first key has the value start.';
  COMMENT ON COLUMN card_keys.replaced_at IS 'When a newer key replaced this key. 24 hours later this key no longer decrypts cards.';

  CREATE TABLE cards (
    token                text        PRIMARY KEY CONSTRAINT cards_token CHECK (length(token) BETWEEN 1 AND 100),
    organisation_id      uuid        NOT NULL,
    mode                 text        NOT NULL CONSTRAINT cards_mode CHECK (mode IN ('test', 'live')),
    customer_reference   uuid,
    acquirer             text        NOT NULL CONSTRAINT cards_acquirer CHECK (length(acquirer) BETWEEN 1 AND 100),
    vault_token          text        NOT NULL CONSTRAINT cards_vault_token CHECK (length(vault_token) BETWEEN 1 AND 100),
    vault_account        text        CONSTRAINT cards_vault_account CHECK (length(vault_account) BETWEEN 1 AND 100),
    card_mask            text        NOT NULL CONSTRAINT cards_mask CHECK (card_mask ~ '^[*]{4} [0-9]{4}$'),
    fingerprint          text        NOT NULL CONSTRAINT cards_fingerprint CHECK (fingerprint ~ '^[A-Za-z0-9_-]{22}$'),
    range_fingerprint    text        NOT NULL CONSTRAINT cards_range_fingerprint CHECK (range_fingerprint ~ '^[A-Za-z0-9_-]{22}$'),
    other_fingerprint    text        CONSTRAINT cards_other_fingerprint CHECK (other_fingerprint ~ '^[A-Za-z0-9_-]{22}$'),
    stored_at            timestamptz NOT NULL,
    deleted_at           timestamptz,
    next_vault_delete_at timestamptz,
    vault_deleted_at     timestamptz,
    CONSTRAINT cards_vault_deleted CHECK (vault_deleted_at IS NULL OR deleted_at IS NOT NULL),
    CONSTRAINT cards_next_vault_delete CHECK ((next_vault_delete_at IS NOT NULL) = (deleted_at IS NOT NULL AND vault_deleted_at IS NULL))
  );
  COMMENT ON TABLE cards IS 'Stored cards (P7). The acquirer stores the card number in its vault, and this table a token for it.';
  COMMENT ON COLUMN cards.token IS 'Token with which the client pays.';
  COMMENT ON COLUMN cards.customer_reference IS 'Customer who owns the card. NULL if the card was stored with a service token. The organisation owns such a card.';
  COMMENT ON COLUMN cards.fingerprint IS 'Keyed hash of the card number, for the limits against card testing (P11).';
  COMMENT ON COLUMN cards.range_fingerprint IS 'Keyed hash of the first eight digits of the card number.';
  COMMENT ON COLUMN cards.other_fingerprint IS 'Hash of the card number with the other key, if two keys were set when the number was last typed.';
  COMMENT ON COLUMN cards.acquirer IS 'Acquirer whose vault has the card. Only this acquirer can charge and delete the card.';
  COMMENT ON COLUMN cards.vault_account IS 'Account at the acquirer whose vault has the card, so that the card is found after a change of the setting. NULL at an acquirer with one vault for each mode.';
  COMMENT ON COLUMN cards.deleted_at IS 'When the owner deleted the card. A card of one payment has this time from its start: when it is deleted at the latest.';
  COMMENT ON COLUMN cards.next_vault_delete_at IS 'When the job next requests the acquirer to delete the card number. NULL before the card is deleted here, and after the acquirer has confirmed the deletion.';
  COMMENT ON COLUMN cards.vault_deleted_at IS 'When the acquirer confirmed that it has deleted the card number.';
  CREATE INDEX cards_fingerprint ON cards (fingerprint);
  COMMENT ON INDEX cards_fingerprint IS 'For a rotation of the key of the hashes.';
  CREATE INDEX cards_vault_deletes_due ON cards (acquirer, next_vault_delete_at) WHERE next_vault_delete_at IS NOT NULL;
`;
