import type { MigrationInterface, QueryRunner } from 'typeorm';

export class NotificationFeed1763500003020 implements MigrationInterface {
  readonly name = 'NotificationFeed1763500003020';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      ALTER TABLE hosted_payments
        ADD COLUMN feed_txid xid8,
        ADD COLUMN feed_position bigint,
        ADD CONSTRAINT hosted_payments_feed CHECK ((feed_txid IS NULL) = (feed_position IS NULL));
      COMMENT ON COLUMN hosted_payments.feed_txid IS 'Transaction that stored the final state of the payment in this table. It is the position of the payment in the notification feed. NULL before the final state.';
      COMMENT ON COLUMN hosted_payments.feed_position IS 'Order of the payments that have the same feed_txid.';
      CREATE SEQUENCE hosted_payments_feed_position OWNED BY hosted_payments.feed_position;

      CREATE FUNCTION take_place_in_feed() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        NEW.feed_txid := pg_current_xact_id();
        NEW.feed_position := nextval('hosted_payments_feed_position');
        RETURN NEW;
      END $$;
      COMMENT ON FUNCTION take_place_in_feed IS 'Adds a final payment to the feed, once. A trigger covers every statement that can store the final state.';
      CREATE TRIGGER hosted_payments_final BEFORE INSERT OR UPDATE ON hosted_payments FOR EACH ROW
        WHEN (NEW.feed_position IS NULL AND NEW.snapshot->>'state' IN ('success', 'failed')) EXECUTE FUNCTION take_place_in_feed();

      DO $$
      DECLARE known text;
      BEGIN
        -- Update the rows one at a time: the trigger numbers them in the order of the updates.
        FOR known IN SELECT payment_reference FROM hosted_payments ORDER BY accepted_at, version LOOP
          UPDATE hosted_payments SET version = version WHERE payment_reference = known;
        END LOOP;
      END $$;
      CREATE INDEX hosted_payments_feed_of_site ON hosted_payments
        (((snapshot->>'siteId')::bigint), (snapshot->>'mode'), feed_txid, feed_position) WHERE feed_position IS NOT NULL;
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
