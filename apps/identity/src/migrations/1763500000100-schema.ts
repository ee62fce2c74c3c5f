import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Merchants with their sites, API keys and webhook secrets; partners with their credentials, users and customers; the
 * keys of identity tokens; and the audit log.
 */
export class Schema1763500000100 implements MigrationInterface {
  readonly name = 'Schema1763500000100';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE merchants (
        merchant_id    bigint      PRIMARY KEY GENERATED ALWAYS AS IDENTITY (START WITH 1001),
        name           text        NOT NULL CONSTRAINT merchants_name_length CHECK (length(name) BETWEEN 1 AND 100),
        features       jsonb       NOT NULL CONSTRAINT merchants_features_object CHECK (jsonb_typeof(features) = 'object'),
        minimum_amount bigint      NOT NULL CONSTRAINT merchants_minimum_amount CHECK (minimum_amount BETWEEN 1 AND 100000000000),
        maximum_amount bigint      CONSTRAINT merchants_maximum_amount CHECK (maximum_amount BETWEEN minimum_amount AND 100000000000),
        grants         jsonb       NOT NULL CONSTRAINT merchants_grants_array CHECK (jsonb_typeof(grants) = 'array'),
        fees           jsonb       NOT NULL
          CONSTRAINT merchants_fees CHECK (NOT fees @? '$.*.basisPoints ? (@ < 0 || @ > 1000)' AND NOT fees @? '$.*.fixedAmount ? (@ < 0 || @ > 10000)'),
        created_at     timestamptz NOT NULL,
        version        bigint      NOT NULL CONSTRAINT merchants_version_positive CHECK (version > 0)
      );
      COMMENT ON COLUMN merchants.minimum_amount IS 'Cents. With the feature amount.editable, payers may pay less than the amount due, but not less than this minimum (P6).';
      COMMENT ON COLUMN merchants.maximum_amount IS 'Cents. With the feature amount.editable, payers may pay more than the amount due, but not more than this maximum (P6). NULL means ten times the amount due, but at most R 50 000.';
      COMMENT ON COLUMN merchants.grants IS 'Partners whose reports of vouchers and external payments the merchant accepts (P6). Empty by default.';
      COMMENT ON COLUMN merchants.fees IS 'Fee of a card payment, for each mode: basis points of the processed amount, plus a fixed amount in cents (M5).';
      COMMENT ON COLUMN merchants.version IS 'aggregateVersion of merchant.changed.v1.';

      CREATE TABLE sites (
        site_id         bigint      PRIMARY KEY GENERATED ALWAYS AS IDENTITY (START WITH 5001),
        merchant_id     bigint      NOT NULL REFERENCES merchants,
        name            text        NOT NULL CONSTRAINT sites_name_length CHECK (length(name) BETWEEN 1 AND 100),
        site_reference  text        NOT NULL CONSTRAINT sites_reference_length CHECK (length(site_reference) BETWEEN 1 AND 100),
        require_api_key boolean     NOT NULL,
        allowed_hosts   jsonb       NOT NULL CONSTRAINT sites_allowed_hosts_array CHECK (jsonb_typeof(allowed_hosts) = 'array'),
        keyless_mode    text        NOT NULL CONSTRAINT sites_keyless_mode CHECK (keyless_mode IN ('test', 'live')),
        webhook_url     text        CONSTRAINT sites_webhook_url_length CHECK (length(webhook_url) BETWEEN 1 AND 2048),
        webhook_enabled boolean     NOT NULL,
        created_at      timestamptz NOT NULL,
        version         bigint      NOT NULL CONSTRAINT sites_version_positive CHECK (version > 0),
        CONSTRAINT sites_reference UNIQUE (merchant_id, site_reference),
        CONSTRAINT sites_owner UNIQUE (merchant_id, site_id),
        CONSTRAINT sites_keyless_hosts CHECK (require_api_key OR jsonb_array_length(allowed_hosts) > 0),
        CONSTRAINT sites_webhook CHECK (NOT webhook_enabled OR webhook_url IS NOT NULL)
      );
      COMMENT ON COLUMN sites.allowed_hosts IS 'Hosts that are allowed in the URLs of a keyless site: lower case, no port, IPv6 in brackets, as in a URL.';
      COMMENT ON COLUMN sites.webhook_url IS 'While webhook_enabled is true, this URL receives a notification of every final payment and every refund of the site (M6).';
      COMMENT ON COLUMN sites.version IS 'aggregateVersion of site.changed.v1. A rename of the merchant increments it too.';
    `);

    await db.query(`
      CREATE TABLE api_keys (
        key_id      uuid        PRIMARY KEY,
        ordinal     bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
        kind        text        NOT NULL CONSTRAINT api_keys_kind CHECK (kind IN ('merchant', 'site')),
        mode        text        NOT NULL CONSTRAINT api_keys_mode CHECK (mode IN ('test', 'live')),
        merchant_id bigint      NOT NULL REFERENCES merchants,
        site_id     bigint,
        hash        text        NOT NULL CONSTRAINT api_keys_hash_shape CHECK (hash ~ '^[0-9a-f]{64}$'),
        prefix      text        NOT NULL CONSTRAINT api_keys_prefix_length CHECK (length(prefix) BETWEEN 1 AND 32),
        sealed      text        NOT NULL CONSTRAINT api_keys_sealed_length CHECK (length(sealed) BETWEEN 1 AND 4096),
        is_primary  boolean     NOT NULL,
        created_at  timestamptz NOT NULL,
        revoked_at  timestamptz,
        version     bigint      NOT NULL CONSTRAINT api_keys_version_positive CHECK (version > 0),
        CONSTRAINT api_keys_site FOREIGN KEY (merchant_id, site_id) REFERENCES sites (merchant_id, site_id),
        CONSTRAINT api_keys_kind_of_owner CHECK ((kind = 'site') = (site_id IS NOT NULL)),
        CONSTRAINT api_keys_primary_valid CHECK (NOT (is_primary AND revoked_at IS NOT NULL))
      );
      CREATE UNIQUE INDEX api_keys_hash ON api_keys (hash);
      CREATE UNIQUE INDEX api_keys_one_primary ON api_keys (merchant_id, site_id, mode) NULLS NOT DISTINCT WHERE is_primary;
      CREATE INDEX api_keys_of_owner ON api_keys (merchant_id, site_id, ordinal);
      COMMENT ON TABLE api_keys IS 'API keys of merchants and sites. A row contains only the hash of the key, and a ciphertext that only webhook-dispatcher can decrypt.';
      COMMENT ON COLUMN api_keys.ordinal IS 'Order of creation. Two keys can be created in the same millisecond.';
      COMMENT ON COLUMN api_keys.prefix IS 'First characters of the key, so that a person can recognise the key.';
      COMMENT ON COLUMN api_keys.sealed IS 'The key as a compact JWE, encrypted for webhook-dispatcher.';
      COMMENT ON COLUMN api_keys.is_primary IS 'Whether this key signs webhooks (E3). An owner has at most one primary key for each mode.';

      CREATE TABLE webhook_secrets (
        secret_id   uuid        PRIMARY KEY,
        ordinal     bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
        mode        text        NOT NULL CONSTRAINT webhook_secrets_mode CHECK (mode IN ('test', 'live')),
        merchant_id bigint      NOT NULL,
        site_id     bigint      NOT NULL,
        sealed      text        NOT NULL CONSTRAINT webhook_secrets_sealed_length CHECK (length(sealed) BETWEEN 1 AND 4096),
        created_at  timestamptz NOT NULL,
        revoked_at  timestamptz,
        version     bigint      NOT NULL CONSTRAINT webhook_secrets_version_positive CHECK (version > 0),
        CONSTRAINT webhook_secrets_site FOREIGN KEY (merchant_id, site_id) REFERENCES sites (merchant_id, site_id)
      );
      CREATE INDEX webhook_secrets_of_site ON webhook_secrets (merchant_id, site_id, ordinal);
      COMMENT ON TABLE webhook_secrets IS 'Secrets of the Standard Webhooks signature (E4), encrypted so that only webhook-dispatcher can decrypt them.';

      CREATE TABLE sealing_key (
        only_one    boolean     PRIMARY KEY DEFAULT true CONSTRAINT sealing_key_only_one CHECK (only_one),
        public_jwk  jsonb       NOT NULL,
        version     bigint      NOT NULL,
        occurred_at timestamptz NOT NULL
      );
      COMMENT ON TABLE sealing_key IS 'Newest public key that webhook-dispatcher published. Filled from events only.';
    `);

    await db.query(`
      CREATE TABLE organisations (
        organisation_id uuid        PRIMARY KEY,
        name            text        NOT NULL CONSTRAINT organisations_name_length CHECK (length(name) BETWEEN 1 AND 100),
        created_at      timestamptz NOT NULL
      );
      COMMENT ON TABLE organisations IS 'Partners, which are the organisations that call the main API.';

      CREATE TABLE partner_credentials (
        credential_id   uuid        PRIMARY KEY,
        ordinal         bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
        kind            text        NOT NULL CONSTRAINT partner_credentials_kind CHECK (kind IN ('api-key', 'api-token')),
        mode            text        NOT NULL CONSTRAINT partner_credentials_mode CHECK (mode IN ('test', 'live')),
        organisation_id uuid        NOT NULL REFERENCES organisations,
        hash            text        NOT NULL CONSTRAINT partner_credentials_hash_shape CHECK (hash ~ '^[0-9a-f]{64}$'),
        prefix          text        NOT NULL CONSTRAINT partner_credentials_prefix_length CHECK (length(prefix) BETWEEN 1 AND 32),
        created_at      timestamptz NOT NULL,
        revoked_at      timestamptz,
        version         bigint      NOT NULL CONSTRAINT partner_credentials_version_positive CHECK (version > 0)
      );
      CREATE UNIQUE INDEX partner_credentials_hash ON partner_credentials (hash);
      CREATE INDEX partner_credentials_of_owner ON partner_credentials (organisation_id, kind, ordinal);
      COMMENT ON TABLE partner_credentials IS 'API keys (x-api-key) and API tokens (service login) of partners. Only the SHA-256 of each credential is stored.';
      COMMENT ON COLUMN partner_credentials.prefix IS 'First characters of the credential, so that a person can recognise the credential.';

      -- The guard of libs/auth queries this name. In other services it is a table that is filled from events.
      CREATE VIEW known_partner_keys AS
        SELECT credential_id AS key_id, organisation_id, mode, hash, revoked_at IS NOT NULL AS revoked, version
          FROM partner_credentials WHERE kind = 'api-key';

      CREATE TABLE users (
        user_id         uuid        PRIMARY KEY,
        organisation_id uuid        NOT NULL REFERENCES organisations,
        mode            text        NOT NULL CONSTRAINT users_mode CHECK (mode IN ('test', 'live')),
        email           text        NOT NULL CONSTRAINT users_email_length CHECK (length(email) BETWEEN 3 AND 254),
        password_hash   text        NOT NULL CONSTRAINT users_password_hash_shape CHECK (password_hash LIKE '$argon2id$%'),
        first_name      text        NOT NULL CONSTRAINT users_first_name_length CHECK (length(first_name) <= 100),
        last_name       text        NOT NULL CONSTRAINT users_last_name_length CHECK (length(last_name) <= 100),
        created_at      timestamptz NOT NULL,
        CONSTRAINT users_email UNIQUE (organisation_id, mode, email),
        CONSTRAINT users_owner UNIQUE (organisation_id, mode, user_id)
      );
      COMMENT ON COLUMN users.email IS 'Lower case, without leading or trailing spaces.';
      COMMENT ON COLUMN users.password_hash IS 'argon2id hash in PHC string format, which includes the salt and the parameters.';

      CREATE TABLE customers (
        customer_reference uuid        PRIMARY KEY,
        user_id            uuid        NOT NULL CONSTRAINT customers_user UNIQUE,
        organisation_id    uuid        NOT NULL,
        mode               text        NOT NULL,
        created_at         timestamptz NOT NULL,
        CONSTRAINT customers_user_of_organisation
          FOREIGN KEY (organisation_id, mode, user_id) REFERENCES users (organisation_id, mode, user_id)
      );
      COMMENT ON TABLE customers IS 'Users that were registered as customers of their organisation (A4).';
    `);

    await db.query(`
      CREATE TABLE login_failures (
        attempt_id uuid        NOT NULL,
        subject    text        NOT NULL CONSTRAINT login_failures_subject_shape CHECK (subject ~ '^[0-9a-f]{64}$'),
        at         timestamptz NOT NULL,
        PRIMARY KEY (attempt_id, subject)
      );
      CREATE INDEX login_failures_of_subject ON login_failures (subject, at);
      CREATE INDEX login_failures_at ON login_failures (at);
      COMMENT ON TABLE login_failures IS 'Customer logins of the last 15 minutes that failed or are still in progress (A5).';
      COMMENT ON COLUMN login_failures.subject IS 'SHA-256 of an organisation and an email, counted before the password is checked, whether or not the user exists. Or SHA-256 of a client address, counted after the check.';

      CREATE TABLE login_successes (
        address text        NOT NULL CONSTRAINT login_successes_address_shape CHECK (address ~ '^[0-9a-f]{64}$'),
        email   text        NOT NULL CONSTRAINT login_successes_email_shape CHECK (email ~ '^[0-9a-f]{64}$'),
        at      timestamptz NOT NULL,
        PRIMARY KEY (address, email)
      );
      CREATE INDEX login_successes_of_address ON login_successes (address, at);
      CREATE INDEX login_successes_at ON login_successes (at);
      COMMENT ON TABLE login_successes IS 'Customers who logged in from an address in the last day. Each of them raises the limit of failures of the address (A5).';
      COMMENT ON COLUMN login_successes.address IS 'SHA-256 of the client address. The columns address and email have the format of login_failures.subject.';
      COMMENT ON COLUMN login_successes.at IS 'Time of the last successful login.';
    `);

    await db.query(`
      CREATE TABLE token_keys (
        kid                uuid        PRIMARY KEY,
        public_jwk         jsonb       NOT NULL,
        sealed_private_key text        NOT NULL CONSTRAINT token_keys_sealed_length CHECK (length(sealed_private_key) BETWEEN 1 AND 4096),
        created_at         timestamptz NOT NULL,
        signs_from         timestamptz NOT NULL,
        withdrawn_at       timestamptz,
        version            bigint      NOT NULL CONSTRAINT token_keys_version_positive CHECK (version > 0),
        CONSTRAINT token_keys_signs_after_creation CHECK (signs_from >= created_at)
      );
      CREATE INDEX token_keys_order ON token_keys (signs_from) WHERE withdrawn_at IS NULL;
      COMMENT ON TABLE token_keys IS 'Key pairs that sign identity tokens (A2). The private key is stored encrypted.';
      COMMENT ON COLUMN token_keys.signs_from IS 'The newest key whose signs_from has passed signs tokens. A key is published before this time.';
      COMMENT ON COLUMN token_keys.withdrawn_at IS 'From this time on, no token that the key signed is accepted.';

      -- As known_partner_keys: the name that the guard of libs/auth queries.
      CREATE VIEW known_token_keys AS
        SELECT kid, public_jwk, withdrawn_at IS NOT NULL AS withdrawn, version FROM token_keys;
    `);

    await db.query(`
      CREATE TABLE audit_log (
        entry_id        bigint      PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
        at              timestamptz NOT NULL,
        service         text        NOT NULL CONSTRAINT audit_log_service_length CHECK (length(service) BETWEEN 1 AND 64),
        actor           text        NOT NULL CONSTRAINT audit_log_actor_length CHECK (length(actor) BETWEEN 1 AND 100),
        request_id      text        NOT NULL CONSTRAINT audit_log_request_id_length CHECK (length(request_id) BETWEEN 1 AND 100),
        action          text        NOT NULL CONSTRAINT audit_log_action_length CHECK (length(action) BETWEEN 1 AND 100),
        merchant_id     bigint,
        site_id         bigint,
        organisation_id uuid        REFERENCES organisations,
        credential_id   uuid,
        before          jsonb,
        after           jsonb,
        CONSTRAINT audit_log_says_something CHECK (before IS NOT NULL OR after IS NOT NULL)
      );
      COMMENT ON TABLE audit_log IS 'Append-only log of all changes by administrators, in all services (A10). It never contains a secret.';
      COMMENT ON COLUMN audit_log.service IS 'The service whose administration API was called.';
      COMMENT ON COLUMN audit_log.actor IS 'Fingerprint of the administration key that was used.';
      COMMENT ON COLUMN audit_log.request_id IS 'x-request-id of the response (C8).';
      COMMENT ON COLUMN audit_log.merchant_id IS 'Has no foreign key, because another service may accept the id of a merchant that identity does not know. The entry must not be lost.';

      -- The role of the service may only append (ADR 45). Triggers also prevent changes by the owner of the table.
      SELECT revoke_from_others('audit_log', 'UPDATE, DELETE, TRUNCATE');
      CREATE FUNCTION refuse_audit_log_change() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        RAISE EXCEPTION 'audit_log is append-only' USING ERRCODE = 'insufficient_privilege';
      END $$;
      CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE ON audit_log
        FOR EACH ROW EXECUTE FUNCTION refuse_audit_log_change();
      CREATE TRIGGER audit_log_no_truncate BEFORE TRUNCATE ON audit_log
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_log_change();
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
