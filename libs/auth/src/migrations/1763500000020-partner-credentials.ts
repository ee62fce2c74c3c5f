import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Credentials from identity, for services that authenticate partners. The tables are a read model: only events of
 * identity change them.
 */
export class PartnerCredentials1763500000020 implements MigrationInterface {
  readonly name = 'PartnerCredentials1763500000020';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE known_partner_keys (
        key_id          uuid    PRIMARY KEY,
        organisation_id uuid    NOT NULL,
        mode            text    NOT NULL CONSTRAINT known_partner_keys_mode CHECK (mode IN ('test', 'live')),
        hash            text    NOT NULL CONSTRAINT known_partner_keys_hash_form CHECK (hash ~ '^[0-9a-f]{64}$'),
        revoked         boolean NOT NULL,
        version         bigint  NOT NULL
      );
      CREATE UNIQUE INDEX known_partner_keys_hash ON known_partner_keys (hash);
      COMMENT ON TABLE known_partner_keys IS 'Read model of the API keys of partners (A6). Contains only their hashes.';

      CREATE TABLE known_token_keys (
        kid        uuid    PRIMARY KEY,
        public_jwk jsonb   NOT NULL,
        withdrawn  boolean NOT NULL,
        version    bigint  NOT NULL
      );
      COMMENT ON TABLE known_token_keys IS 'Public keys that verify identity tokens (A2). Services verify tokens with this copy while identity is down.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
