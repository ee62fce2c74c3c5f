import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Names of customers for their payments, because a customer's token does not contain the name. */
export class KnownCustomers1763500001010 implements MigrationInterface {
  readonly name = 'KnownCustomers1763500001010';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE known_customers (
        organisation_id    uuid   NOT NULL,
        mode               text   NOT NULL CONSTRAINT known_customers_mode CHECK (mode IN ('test', 'live')),
        customer_reference uuid   NOT NULL,
        first_name         text   NOT NULL CONSTRAINT known_customers_first_name CHECK (length(first_name) <= 100),
        last_name          text   NOT NULL CONSTRAINT known_customers_last_name CHECK (length(last_name) <= 100),
        version            bigint NOT NULL CONSTRAINT known_customers_version CHECK (version > 0),
        PRIMARY KEY (organisation_id, mode, customer_reference)
      );
      COMMENT ON TABLE known_customers IS 'Read model of the names of the customers of partners, for their payments. Only events of identity change it.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
