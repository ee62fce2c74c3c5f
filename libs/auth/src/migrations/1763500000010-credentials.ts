import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Credentials from identity, for services that authenticate merchants. The tables are a read model: only events of
 * identity change them.
 */
export class Credentials1763500000010 implements MigrationInterface {
  readonly name = 'Credentials1763500000010';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE known_sites (
        merchant_id      bigint  NOT NULL,
        site_id          bigint  NOT NULL,
        merchant_name    text    NOT NULL CONSTRAINT known_sites_merchant_name CHECK (length(merchant_name) BETWEEN 1 AND 100),
        site_reference   text    NOT NULL CONSTRAINT known_sites_site_reference CHECK (length(site_reference) BETWEEN 1 AND 100),
        name             text    NOT NULL CONSTRAINT known_sites_name CHECK (length(name) BETWEEN 1 AND 100),
        require_api_key  boolean NOT NULL,
        allowed_hosts    jsonb   NOT NULL,
        keyless_mode     text    NOT NULL CONSTRAINT known_sites_keyless_mode CHECK (keyless_mode IN ('test', 'live')),
        challenge_payers boolean NOT NULL,
        version          bigint  NOT NULL,
        PRIMARY KEY (merchant_id, site_id)
      );
      CREATE INDEX known_sites_challenge_payers ON known_sites (site_id) WHERE challenge_payers;
      CREATE TABLE known_api_keys (
        key_id      uuid    PRIMARY KEY,
        kind        text    NOT NULL CONSTRAINT known_api_keys_kind CHECK (kind IN ('merchant', 'site')),
        mode        text    NOT NULL CONSTRAINT known_api_keys_mode CHECK (mode IN ('test', 'live')),
        merchant_id bigint  NOT NULL,
        site_id     bigint,
        hash        text    NOT NULL CONSTRAINT known_api_keys_hash_form CHECK (hash ~ '^[0-9a-f]{64}$'),
        revoked     boolean NOT NULL,
        version     bigint  NOT NULL,
        CONSTRAINT known_api_keys_site CHECK ((kind = 'site') = (site_id IS NOT NULL))
      );
      CREATE UNIQUE INDEX known_api_keys_hash ON known_api_keys (hash);
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
