import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Merchants with their sites, API keys and webhook secrets; partners with their credentials, users and customers; people
 * with their roles, sessions and second factors; the keys of identity tokens; and the audit log.
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
        time_zones     jsonb       NOT NULL CONSTRAINT merchants_time_zones CHECK (jsonb_typeof(time_zones) = 'array' AND jsonb_array_length(time_zones) BETWEEN 1 AND 100),
        version        bigint      NOT NULL CONSTRAINT merchants_version_positive CHECK (version > 0)
      );
      COMMENT ON COLUMN merchants.minimum_amount IS 'Cents. With the feature amount.editable, payers may pay less than the amount due, but not less than this minimum (P6).';
      COMMENT ON COLUMN merchants.maximum_amount IS 'Cents. With the feature amount.editable, payers may pay more than the amount due, but not more than this maximum (P6). NULL means ten times the amount due, but at most R 50 000.';
      COMMENT ON COLUMN merchants.grants IS 'Partners whose reports of vouchers and external payments the merchant accepts (P6). Empty by default.';
      COMMENT ON COLUMN merchants.fees IS 'Fee of a card payment, for each mode: basis points of the processed amount, plus a fixed amount in cents (M5).';
      COMMENT ON COLUMN merchants.time_zones IS 'Time zones of the days of the merchant, sorted by the UTC time at which each begins (M7).';
      COMMENT ON COLUMN merchants.version IS 'aggregateVersion of merchant.changed.v1.';

      CREATE TABLE sites (
        site_id          bigint      PRIMARY KEY GENERATED ALWAYS AS IDENTITY (START WITH 5001),
        merchant_id      bigint      NOT NULL REFERENCES merchants,
        name             text        NOT NULL CONSTRAINT sites_name_length CHECK (length(name) BETWEEN 1 AND 100),
        site_reference   text        NOT NULL CONSTRAINT sites_reference_length CHECK (length(site_reference) BETWEEN 1 AND 100),
        require_api_key  boolean     NOT NULL,
        allowed_hosts    jsonb       NOT NULL CONSTRAINT sites_allowed_hosts_array CHECK (jsonb_typeof(allowed_hosts) = 'array'),
        keyless_mode     text        NOT NULL CONSTRAINT sites_keyless_mode CHECK (keyless_mode IN ('test', 'live')),
        webhook_url      text        CONSTRAINT sites_webhook_url_length CHECK (length(webhook_url) BETWEEN 1 AND 2048),
        webhook_enabled  boolean     NOT NULL,
        challenge_payers boolean     NOT NULL,
        created_at       timestamptz NOT NULL,
        version          bigint      NOT NULL CONSTRAINT sites_version_positive CHECK (version > 0),
        CONSTRAINT sites_reference UNIQUE (merchant_id, site_reference),
        CONSTRAINT sites_owner UNIQUE (merchant_id, site_id),
        CONSTRAINT sites_keyless_hosts CHECK (require_api_key OR jsonb_array_length(allowed_hosts) > 0),
        CONSTRAINT sites_webhook CHECK (NOT webhook_enabled OR webhook_url IS NOT NULL)
      );
      COMMENT ON COLUMN sites.allowed_hosts IS 'Hosts that are allowed in the URLs of a keyless site: lower case, no port, IPv6 in brackets, as in a URL.';
      COMMENT ON COLUMN sites.webhook_url IS 'While webhook_enabled is true, this URL receives a notification of every final payment and every refund of the site (M6).';
      COMMENT ON COLUMN sites.challenge_payers IS 'Whether payers of the site always solve a challenge before they pay. Otherwise they do so only while stolen cards are tested at the site.';
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
        ends_at     timestamptz,
        revoked_at  timestamptz,
        version     bigint      NOT NULL CONSTRAINT api_keys_version_positive CHECK (version > 0),
        CONSTRAINT api_keys_site FOREIGN KEY (merchant_id, site_id) REFERENCES sites (merchant_id, site_id),
        CONSTRAINT api_keys_kind_of_owner CHECK ((kind = 'site') = (site_id IS NOT NULL)),
        CONSTRAINT api_keys_primary_valid CHECK (NOT (is_primary AND revoked_at IS NOT NULL))
      );
      CREATE UNIQUE INDEX api_keys_hash ON api_keys (hash);
      CREATE UNIQUE INDEX api_keys_one_primary ON api_keys (merchant_id, site_id, mode) NULLS NOT DISTINCT WHERE is_primary;
      CREATE INDEX api_keys_of_owner ON api_keys (merchant_id, site_id, ordinal);
      CREATE INDEX api_keys_ending ON api_keys (ends_at) WHERE ends_at IS NOT NULL AND revoked_at IS NULL;
      COMMENT ON TABLE api_keys IS 'API keys of merchants and sites. A row contains only the hash of the key, and a ciphertext that only webhook-dispatcher can decrypt.';
      COMMENT ON COLUMN api_keys.ordinal IS 'Order of creation. Two keys can be created in the same millisecond.';
      COMMENT ON COLUMN api_keys.prefix IS 'First characters of the key, so that a person can recognise the key.';
      COMMENT ON COLUMN api_keys.sealed IS 'The key as a compact JWE, encrypted for webhook-dispatcher.';
      COMMENT ON COLUMN api_keys.ends_at IS 'When a job revokes the key, because it was replaced. NULL while it was not replaced.';
      COMMENT ON COLUMN api_keys.is_primary IS 'Whether this key signs webhooks (E3). An owner has at most one primary key for each mode.';

      CREATE TABLE webhook_secrets (
        secret_id   uuid        PRIMARY KEY,
        ordinal     bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
        mode        text        NOT NULL CONSTRAINT webhook_secrets_mode CHECK (mode IN ('test', 'live')),
        merchant_id bigint      NOT NULL,
        site_id     bigint      NOT NULL,
        sealed      text        NOT NULL CONSTRAINT webhook_secrets_sealed_length CHECK (length(sealed) BETWEEN 1 AND 4096),
        created_at  timestamptz NOT NULL,
        ends_at     timestamptz,
        revoked_at  timestamptz,
        version     bigint      NOT NULL CONSTRAINT webhook_secrets_version_positive CHECK (version > 0),
        CONSTRAINT webhook_secrets_site FOREIGN KEY (merchant_id, site_id) REFERENCES sites (merchant_id, site_id)
      );
      CREATE INDEX webhook_secrets_of_site ON webhook_secrets (merchant_id, site_id, ordinal);
      CREATE INDEX webhook_secrets_ending ON webhook_secrets (ends_at) WHERE ends_at IS NOT NULL AND revoked_at IS NULL;
      COMMENT ON COLUMN webhook_secrets.ends_at IS 'When a job revokes the secret, because it was replaced. NULL while it was not replaced.';
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
      CREATE TABLE people (
        person_id          uuid        PRIMARY KEY,
        email              text        NOT NULL CONSTRAINT people_email_length CHECK (length(email) BETWEEN 3 AND 254),
        name               text        NOT NULL CONSTRAINT people_name_length CHECK (length(name) BETWEEN 1 AND 100),
        password_hash      text        NOT NULL CONSTRAINT people_password_hash_shape CHECK (password_hash LIKE '$argon2id$%'),
        totp_secret        text        CONSTRAINT people_totp_secret_length CHECK (length(totp_secret) BETWEEN 1 AND 1024),
        totp_created_at    timestamptz,
        totp_last_step     bigint,
        new_totp_secret    text        CONSTRAINT people_new_totp_secret_length CHECK (length(new_totp_secret) BETWEEN 1 AND 1024),
        new_totp_expires_at timestamptz,
        created_at         timestamptz NOT NULL,
        last_sign_in_at    timestamptz,
        CONSTRAINT people_email UNIQUE (email),
        CONSTRAINT people_totp CHECK (num_nulls(totp_secret, totp_created_at, totp_last_step) IN (0, 3)),
        CONSTRAINT people_new_totp CHECK (num_nulls(new_totp_secret, new_totp_expires_at) IN (0, 2))
      );
      COMMENT ON TABLE people IS 'People who sign in to the console. A person without any role at a merchant, and who is no operator, is deleted.';
      COMMENT ON COLUMN people.email IS 'Lower case, without leading or trailing spaces.';
      COMMENT ON COLUMN people.password_hash IS 'argon2id hash in PHC string format, which includes the salt and the parameters.';
      COMMENT ON COLUMN people.totp_secret IS 'The TOTP secret as a compact JWE, encrypted with the sealing key.';
      COMMENT ON COLUMN people.totp_last_step IS 'Time step of the last accepted TOTP code. Only codes of later steps are accepted.';
      COMMENT ON COLUMN people.new_totp_secret IS 'A TOTP secret whose first code the person has not entered yet. Then it replaces totp_secret.';

      CREATE TABLE passkeys (
        passkey_id    uuid        PRIMARY KEY,
        person_id     uuid        NOT NULL REFERENCES people ON DELETE CASCADE,
        credential_id text        NOT NULL CONSTRAINT passkeys_credential_id_length CHECK (length(credential_id) BETWEEN 1 AND 1364),
        public_key    bytea       NOT NULL CONSTRAINT passkeys_public_key_length CHECK (length(public_key) BETWEEN 1 AND 4096),
        counter       bigint      NOT NULL CONSTRAINT passkeys_counter_range CHECK (counter BETWEEN 0 AND 4294967295),
        name          text        NOT NULL CONSTRAINT passkeys_name_length CHECK (length(name) BETWEEN 1 AND 60),
        created_at    timestamptz NOT NULL,
        last_used_at  timestamptz,
        CONSTRAINT passkeys_credential UNIQUE (credential_id)
      );
      CREATE INDEX passkeys_of_person ON passkeys (person_id, created_at);
      COMMENT ON TABLE passkeys IS 'WebAuthn credentials of people, at most ten of each person.';
      COMMENT ON COLUMN passkeys.credential_id IS 'base64url.';
      COMMENT ON COLUMN passkeys.counter IS 'Signature counter of the last use. A use with a counter that is not higher is refused, unless the authenticator does not count (0).';

      CREATE TABLE person_roles (
        merchant_id bigint      NOT NULL REFERENCES merchants,
        person_id   uuid        NOT NULL REFERENCES people,
        site_id     bigint,
        role        text        NOT NULL CONSTRAINT person_roles_role CHECK (role IN ('owner', 'finance', 'support', 'developer')),
        created_at  timestamptz NOT NULL,
        CONSTRAINT person_roles_one_each UNIQUE NULLS NOT DISTINCT (merchant_id, person_id, site_id),
        CONSTRAINT person_roles_site FOREIGN KEY (merchant_id, site_id) REFERENCES sites (merchant_id, site_id)
      );
      CREATE INDEX person_roles_of_person ON person_roles (person_id);
      COMMENT ON TABLE person_roles IS 'Roles of people at merchants. Without site_id the role is valid for the merchant and all its sites.';

      CREATE TABLE invitations (
        invitation_id uuid        PRIMARY KEY,
        token_hash    text        NOT NULL CONSTRAINT invitations_token_hash_shape CHECK (token_hash ~ '^[0-9a-f]{64}$'),
        merchant_id   bigint      NOT NULL REFERENCES merchants,
        site_id       bigint,
        role          text        NOT NULL CONSTRAINT invitations_role CHECK (role IN ('owner', 'finance', 'support', 'developer')),
        email         text        NOT NULL CONSTRAINT invitations_email_length CHECK (length(email) BETWEEN 3 AND 254),
        created_at    timestamptz NOT NULL,
        expires_at    timestamptz NOT NULL,
        CONSTRAINT invitations_token UNIQUE (token_hash),
        CONSTRAINT invitations_one_each UNIQUE NULLS NOT DISTINCT (merchant_id, email, site_id),
        CONSTRAINT invitations_site FOREIGN KEY (merchant_id, site_id) REFERENCES sites (merchant_id, site_id)
      );
      CREATE INDEX invitations_of_email ON invitations (email);
      CREATE INDEX invitations_expired ON invitations (expires_at);
      COMMENT ON TABLE invitations IS 'Invitations that are neither accepted nor withdrawn. An accepted invitation is deleted.';

      CREATE TABLE operators (
        person_id  uuid        PRIMARY KEY REFERENCES people,
        role       text        NOT NULL CONSTRAINT operators_role CHECK (role IN ('viewer', 'operator')),
        created_at timestamptz NOT NULL
      );
      COMMENT ON TABLE operators IS 'People who operate the platform, apart from their roles at merchants. At most 50.';
      COMMENT ON COLUMN operators.role IS 'A viewer reads everything, an operator also changes.';

      CREATE TABLE operator_invitations (
        invitation_id uuid        PRIMARY KEY,
        token_hash    text        NOT NULL CONSTRAINT operator_invitations_token_hash_shape CHECK (token_hash ~ '^[0-9a-f]{64}$'),
        role          text        NOT NULL CONSTRAINT operator_invitations_role CHECK (role IN ('viewer', 'operator')),
        email         text        NOT NULL CONSTRAINT operator_invitations_email_length CHECK (length(email) BETWEEN 3 AND 254),
        created_at    timestamptz NOT NULL,
        expires_at    timestamptz NOT NULL,
        CONSTRAINT operator_invitations_token UNIQUE (token_hash),
        CONSTRAINT operator_invitations_email UNIQUE (email)
      );
      CREATE INDEX operator_invitations_expired ON operator_invitations (expires_at);
      COMMENT ON TABLE operator_invitations IS 'Invitations of operators that are neither accepted nor withdrawn. An accepted invitation is deleted.';

      CREATE TABLE operator_keys (
        key_id     uuid        PRIMARY KEY,
        person_id  uuid        NOT NULL,
        role       text        NOT NULL CONSTRAINT operator_keys_role CHECK (role IN ('viewer', 'operator')),
        hash       text        NOT NULL CONSTRAINT operator_keys_hash_shape CHECK (hash ~ '^[0-9a-f]{64}$'),
        prefix     text        NOT NULL CONSTRAINT operator_keys_prefix_length CHECK (length(prefix) BETWEEN 1 AND 32),
        created_at timestamptz NOT NULL,
        expires_at timestamptz NOT NULL,
        revoked_at timestamptz,
        version    bigint      NOT NULL CONSTRAINT operator_keys_version_positive CHECK (version > 0),
        CONSTRAINT operator_keys_expires CHECK (expires_at > created_at AND expires_at <= created_at + interval '90 days')
      );
      CREATE UNIQUE INDEX operator_keys_hash ON operator_keys (hash);
      CREATE INDEX operator_keys_of_person ON operator_keys (person_id);
      CREATE INDEX operator_keys_changing ON operator_keys (role) WHERE role = 'operator';
      COMMENT ON TABLE operator_keys IS 'Keys of operators for the administration API. Only the SHA-256 of each key is stored. A row is never deleted: after the first key with the role operator the shared key is refused.';
      COMMENT ON COLUMN operator_keys.person_id IS 'Has no foreign key, because the row remains when the person is removed.';
      COMMENT ON COLUMN operator_keys.prefix IS 'First characters of the key, so that a person can recognise the key.';

      -- As known_partner_keys: the name that the guard of libs/auth queries.
      CREATE VIEW known_operator_keys AS
        SELECT key_id, person_id, role, hash, expires_at, revoked_at IS NOT NULL AS revoked, version FROM operator_keys;

      CREATE TABLE mails (
        mail_id     uuid        PRIMARY KEY,
        merchant_id bigint      NOT NULL REFERENCES merchants,
        state       text        NOT NULL CONSTRAINT mails_state CHECK (state IN ('waiting', 'sent', 'rejected', 'cancelled')),
        sealed_mail text        CONSTRAINT mails_sealed_mail_length CHECK (length(sealed_mail) BETWEEN 1 AND 32768),
        attempts    smallint    NOT NULL CONSTRAINT mails_attempts_range CHECK (attempts BETWEEN 0 AND 1000),
        due_at      timestamptz NOT NULL,
        expires_at  timestamptz NOT NULL,
        CONSTRAINT mails_content CHECK ((state = 'waiting') = (sealed_mail IS NOT NULL))
      );
      CREATE INDEX mails_due ON mails (due_at) WHERE state = 'waiting';
      CREATE INDEX mails_of_merchant ON mails (merchant_id, expires_at);
      CREATE INDEX mails_expired ON mails (expires_at);
      COMMENT ON TABLE mails IS 'Mails to people. They are sent after the commit, at least once. The row remains for 24 hours, without the content, to limit their number.';
      COMMENT ON COLUMN mails.mail_id IS 'The id of the invitation, if the mail contains one.';
      COMMENT ON COLUMN mails.sealed_mail IS 'The mail as a compact JWE, encrypted with the sealing key, because it may contain a token. Deleted when it was sent.';
      COMMENT ON COLUMN mails.due_at IS 'Time of the next attempt. A replica that sends the mail moves it first, so that no other sends it too.';
    `);

    await db.query(`
      CREATE TABLE person_sessions (
        session_id       uuid        PRIMARY KEY,
        token_hash       text        NOT NULL CONSTRAINT person_sessions_token_hash_shape CHECK (token_hash ~ '^[0-9a-f]{64}$'),
        person_id        uuid        NOT NULL REFERENCES people ON DELETE CASCADE,
        browser          text        NOT NULL CONSTRAINT person_sessions_browser_shape CHECK (browser ~ '^[0-9a-f]{64}$'),
        method           text        NOT NULL CONSTRAINT person_sessions_method CHECK (method IN ('password', 'passkey', 'link')),
        device_name      text        CONSTRAINT person_sessions_device_name_length CHECK (length(device_name) BETWEEN 1 AND 60),
        device_address   text        CONSTRAINT person_sessions_device_address_length CHECK (length(device_address) BETWEEN 1 AND 45),
        set_up_required  boolean     NOT NULL,
        created_at       timestamptz NOT NULL,
        authenticated_at timestamptz NOT NULL,
        last_active_at   timestamptz NOT NULL,
        expires_at       timestamptz NOT NULL,
        CONSTRAINT person_sessions_token UNIQUE (token_hash),
        CONSTRAINT person_sessions_device CHECK (num_nulls(device_name, device_address) IN (0, 2))
      );
      CREATE INDEX person_sessions_of_person ON person_sessions (person_id, created_at);
      CREATE INDEX person_sessions_expired ON person_sessions (expires_at);
      COMMENT ON TABLE person_sessions IS 'Sessions of people in the console, at most 20 of each person. A session that has ended is deleted.';
      COMMENT ON COLUMN person_sessions.browser IS 'SHA-256 of the header User-Agent. A request with another value ends the session.';
      COMMENT ON COLUMN person_sessions.device_name IS 'Browser and operating system, which the person sees in the list of sessions.';
      COMMENT ON COLUMN person_sessions.set_up_required IS 'The person had no second factor at the sign-in: the session has no roles until a second factor is set up in it.';
      COMMENT ON COLUMN person_sessions.authenticated_at IS 'The last time that the person signed in or confirmed.';
      COMMENT ON COLUMN person_sessions.last_active_at IS 'The last time that an operator opened a page. A session of an operator ends 15 minutes later. Of other people it is the time of the sign-in.';

      CREATE TABLE sign_in_tokens (
        token_hash text        PRIMARY KEY CONSTRAINT sign_in_tokens_token_hash_shape CHECK (token_hash ~ '^[0-9a-f]{64}$'),
        kind       text        NOT NULL CONSTRAINT sign_in_tokens_kind CHECK (kind IN ('password', 'link')),
        person_id  uuid        NOT NULL REFERENCES people ON DELETE CASCADE,
        codes      smallint    NOT NULL CONSTRAINT sign_in_tokens_codes_range CHECK (codes BETWEEN 0 AND 5),
        expires_at timestamptz NOT NULL
      );
      CREATE INDEX sign_in_tokens_of_person ON sign_in_tokens (person_id, expires_at);
      CREATE INDEX sign_in_tokens_expired ON sign_in_tokens (expires_at);
      COMMENT ON TABLE sign_in_tokens IS 'Sign-ins after a right password and before the second factor, and sign-in links of development. At most five of each person.';
      COMMENT ON COLUMN sign_in_tokens.codes IS 'Number of TOTP codes that were entered, counted before the code is checked.';

      CREATE TABLE passkey_challenges (
        token_hash text        PRIMARY KEY CONSTRAINT passkey_challenges_token_hash_shape CHECK (token_hash ~ '^[0-9a-f]{64}$'),
        purpose    text        NOT NULL CONSTRAINT passkey_challenges_purpose CHECK (purpose IN ('sign-in', 'registration')),
        subject    text        NOT NULL CONSTRAINT passkey_challenges_subject_length CHECK (length(subject) BETWEEN 1 AND 64),
        challenge  text        NOT NULL CONSTRAINT passkey_challenges_challenge_length CHECK (length(challenge) BETWEEN 1 AND 128),
        expires_at timestamptz NOT NULL
      );
      CREATE INDEX passkey_challenges_of_subject ON passkey_challenges (subject, expires_at);
      CREATE INDEX passkey_challenges_expired ON passkey_challenges (expires_at);
      COMMENT ON TABLE passkey_challenges IS 'Open requests for a passkey. An answered request is deleted.';
      COMMENT ON COLUMN passkey_challenges.subject IS 'The person who registers a passkey, or SHA-256 of the address from which a person signs in. It limits the number of open requests.';

      CREATE TABLE sign_in_failures (
        attempt_id uuid        NOT NULL,
        subject    text        NOT NULL CONSTRAINT sign_in_failures_subject_shape CHECK (subject ~ '^[0-9a-f]{64}$'),
        at         timestamptz NOT NULL,
        PRIMARY KEY (attempt_id, subject)
      );
      CREATE INDEX sign_in_failures_of_subject ON sign_in_failures (subject, at);
      CREATE INDEX sign_in_failures_at ON sign_in_failures (at);
      COMMENT ON TABLE sign_in_failures IS 'Wrong passwords and codes of people in the last hour, and checks that are still in progress.';
      COMMENT ON COLUMN sign_in_failures.subject IS 'SHA-256 of an email (whether or not the person exists), of a person whose code is checked, or of the address of a browser.';
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
      COMMENT ON TABLE audit_log IS 'Append-only log of all changes by administrators and by people of merchants, in all services (A10). It never contains a secret.';
      COMMENT ON COLUMN audit_log.service IS 'The service whose administration API was called.';
      COMMENT ON COLUMN audit_log.actor IS 'The operator whose key was used, the fingerprint of the shared administration key, or the person in the console.';
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
