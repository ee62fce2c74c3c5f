import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Organisations (partners) with credentials, users and customers; keys of tokens; features and grants of merchants. */
export class Partners1763500000110 implements MigrationInterface {
  readonly name = 'Partners1763500000110';

  async up(db: QueryRunner): Promise<void> {
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
      COMMENT ON COLUMN partner_credentials.prefix IS
        'First characters of the credential, so that a person can recognise the credential.';

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
      COMMENT ON COLUMN users.password_hash IS
        'argon2id hash in PHC string format, which includes the salt and the parameters.';

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

      CREATE TABLE login_failures (
        attempt_id uuid        NOT NULL,
        subject    text        NOT NULL CONSTRAINT login_failures_subject_shape CHECK (subject ~ '^[0-9a-f]{64}$'),
        at         timestamptz NOT NULL,
        PRIMARY KEY (attempt_id, subject)
      );
      CREATE INDEX login_failures_of_subject ON login_failures (subject, at);
      CREATE INDEX login_failures_at ON login_failures (at);
      COMMENT ON TABLE login_failures IS
        'Customer logins of the last 15 minutes that failed or are still in progress (A5).';
      COMMENT ON COLUMN login_failures.subject IS 'SHA-256 of a client address, or of an organisation and an email, whether or not the user exists.';

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
      COMMENT ON COLUMN token_keys.signs_from IS
        'The newest key whose signs_from has passed signs tokens. A key is published before this time.';
      COMMENT ON COLUMN token_keys.withdrawn_at IS 'From this time on, no token that the key signed is accepted.';

      -- The guard of libs/auth queries these names. In other services they are tables that are filled from events.
      CREATE VIEW known_partner_keys AS
        SELECT credential_id AS key_id, organisation_id, mode, hash, revoked_at IS NOT NULL AS revoked, version
          FROM partner_credentials WHERE kind = 'api-key';
      CREATE VIEW known_token_keys AS
        SELECT kid, public_jwk, withdrawn_at IS NOT NULL AS withdrawn, version FROM token_keys;

      ALTER TABLE merchants
        ADD COLUMN features jsonb  NOT NULL DEFAULT '{}' CONSTRAINT merchants_features_object CHECK (jsonb_typeof(features) = 'object'),
        ADD COLUMN grants   jsonb  NOT NULL DEFAULT '[]' CONSTRAINT merchants_grants_array CHECK (jsonb_typeof(grants) = 'array'),
        ADD COLUMN version  bigint NOT NULL DEFAULT 1 CONSTRAINT merchants_version_positive CHECK (version > 0);
      ALTER TABLE merchants
        ALTER COLUMN features DROP DEFAULT, ALTER COLUMN grants DROP DEFAULT, ALTER COLUMN version DROP DEFAULT;
      COMMENT ON COLUMN merchants.grants IS 'Partners whose reports of vouchers and external payments the merchant accepts (P6). Empty by default.';
      COMMENT ON COLUMN merchants.version IS 'aggregateVersion of merchant.changed.v1.';

      ALTER TABLE sites ADD COLUMN webhook_url text
        CONSTRAINT sites_webhook_url_length CHECK (length(webhook_url) BETWEEN 1 AND 2048);
      COMMENT ON COLUMN sites.webhook_url IS 'URL that receives notifications of payments and refunds of the site (M6). NULL: no notifications.';

      ALTER TABLE audit_log ALTER COLUMN merchant_id DROP NOT NULL;
      ALTER TABLE audit_log ADD COLUMN organisation_id uuid REFERENCES organisations;

      -- Publish the existing merchants once. Otherwise no other service would know them.
      INSERT INTO event_log (id, type, aggregate_id, aggregate_version, occurred_at, payload)
        SELECT gen_random_uuid(), 'merchant.changed.v1', merchant_id::text, 1, created_at,
               jsonb_build_object('merchantId', merchant_id, 'name', name, 'features', features, 'grants', grants)
          FROM merchants;
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
