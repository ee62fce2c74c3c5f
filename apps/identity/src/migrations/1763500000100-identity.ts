import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Merchants, sites, their credentials, the encryption key of webhook-dispatcher, and the audit log. */
export class Identity1763500000100 implements MigrationInterface {
  readonly name = 'Identity1763500000100';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE merchants (
        merchant_id bigint      PRIMARY KEY GENERATED ALWAYS AS IDENTITY (START WITH 1001),
        name        text        NOT NULL CONSTRAINT merchants_name_length CHECK (length(name) BETWEEN 1 AND 100),
        created_at  timestamptz NOT NULL
      );

      CREATE TABLE sites (
        site_id         bigint      PRIMARY KEY GENERATED ALWAYS AS IDENTITY (START WITH 5001),
        merchant_id     bigint      NOT NULL REFERENCES merchants,
        name            text        NOT NULL CONSTRAINT sites_name_length CHECK (length(name) BETWEEN 1 AND 100),
        site_reference  text        NOT NULL CONSTRAINT sites_reference_length CHECK (length(site_reference) BETWEEN 1 AND 100),
        require_api_key boolean     NOT NULL,
        allowed_hosts   jsonb       NOT NULL CONSTRAINT sites_allowed_hosts_array CHECK (jsonb_typeof(allowed_hosts) = 'array'),
        keyless_mode    text        NOT NULL CONSTRAINT sites_keyless_mode CHECK (keyless_mode IN ('test', 'live')),
        created_at      timestamptz NOT NULL,
        version         bigint      NOT NULL CONSTRAINT sites_version_positive CHECK (version > 0),
        CONSTRAINT sites_reference UNIQUE (merchant_id, site_reference),
        CONSTRAINT sites_owner UNIQUE (merchant_id, site_id),
        CONSTRAINT sites_keyless_hosts CHECK (require_api_key OR jsonb_array_length(allowed_hosts) > 0)
      );
      COMMENT ON COLUMN sites.allowed_hosts IS 'Hosts that are allowed in the URLs of a keyless site: lower case, no port, IPv6 in brackets, as in a URL.';
      COMMENT ON COLUMN sites.version IS 'aggregateVersion of site.changed.v1. A rename of the merchant increments it too.';

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
      COMMENT ON COLUMN api_keys.is_primary IS
        'Whether this key signs webhooks (E3). An owner has at most one primary key for each mode.';

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

      CREATE TABLE audit_log (
        entry_id      bigint      PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
        at            timestamptz NOT NULL,
        actor         text        NOT NULL CONSTRAINT audit_log_actor_length CHECK (length(actor) BETWEEN 1 AND 100),
        request_id    text        NOT NULL CONSTRAINT audit_log_request_id_length CHECK (length(request_id) BETWEEN 1 AND 100),
        action        text        NOT NULL CONSTRAINT audit_log_action_length CHECK (length(action) BETWEEN 1 AND 100),
        merchant_id   bigint      NOT NULL REFERENCES merchants,
        site_id       bigint,
        credential_id uuid,
        before        jsonb,
        after         jsonb,
        CONSTRAINT audit_log_says_something CHECK (before IS NOT NULL OR after IS NOT NULL)
      );
      COMMENT ON TABLE audit_log IS 'Append-only log of all changes by administrators. It never contains a secret.';
      COMMENT ON COLUMN audit_log.actor IS 'Fingerprint of the administration key that was used.';
      COMMENT ON COLUMN audit_log.request_id IS 'x-request-id of the response (C8).';

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
