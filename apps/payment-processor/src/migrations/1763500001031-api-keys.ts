import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Hashes of merchants' API keys, because merchants call this service for refunds. The sites are in known_sites already.
 */
export class ApiKeys1763500001031 implements MigrationInterface {
  readonly name = 'ApiKeys1763500001031';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
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
      COMMENT ON TABLE known_api_keys IS 'Read model of the API keys of merchants and sites (A6). Only events of identity change it.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
