import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Publishes existing customers once, because payment-processor adds their names to their payments. */
export class TellCustomers1763500000140 implements MigrationInterface {
  readonly name = 'TellCustomers1763500000140';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      INSERT INTO event_log (id, type, aggregate_id, aggregate_version, occurred_at, payload)
        SELECT gen_random_uuid(), 'customer.registered.v1', c.customer_reference::text, 1, c.created_at,
               jsonb_build_object('customerReference', c.customer_reference, 'organisationId', c.organisation_id, 'mode', c.mode,
                                  'firstName', u.first_name, 'lastName', u.last_name)
          FROM customers c JOIN users u ON u.user_id = c.user_id ORDER BY c.created_at`);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
