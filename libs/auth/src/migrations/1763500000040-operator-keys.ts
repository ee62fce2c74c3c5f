import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Keys of operators from identity, for services with an administration API. The table is a read model: only events of
 * identity change it.
 */
export class OperatorKeys1763500000040 implements MigrationInterface {
  readonly name = 'OperatorKeys1763500000040';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE known_operator_keys (
        key_id     uuid        PRIMARY KEY,
        person_id  uuid        NOT NULL,
        role       text        NOT NULL CONSTRAINT known_operator_keys_role CHECK (role IN ('viewer', 'operator')),
        hash       text        NOT NULL CONSTRAINT known_operator_keys_hash_form CHECK (hash ~ '^[0-9a-f]{64}$'),
        expires_at timestamptz NOT NULL,
        revoked    boolean     NOT NULL,
        version    bigint      NOT NULL
      );
      CREATE UNIQUE INDEX known_operator_keys_hash ON known_operator_keys (hash);
      CREATE INDEX known_operator_keys_changing ON known_operator_keys (role) WHERE role = 'operator';
      COMMENT ON TABLE known_operator_keys IS 'Read model of the keys of operators for the administration API. Contains only their hashes. A row is never deleted: after the first key with the role operator the shared key is refused.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
