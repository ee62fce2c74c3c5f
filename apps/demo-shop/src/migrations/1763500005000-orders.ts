import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates the tables of orders and of received webhooks. */
export class Orders1763500005000 implements MigrationInterface {
  readonly name = 'Orders1763500005000';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE orders (
        order_id             uuid        PRIMARY KEY,
        order_number         bigint      NOT NULL GENERATED ALWAYS AS IDENTITY (START WITH 1001) CONSTRAINT orders_number UNIQUE,
        checkout_key         text        NOT NULL CONSTRAINT orders_checkout_key UNIQUE,
        lines                jsonb       NOT NULL CONSTRAINT orders_lines_array CHECK (jsonb_typeof(lines) = 'array'),
        total_cents          bigint      NOT NULL CONSTRAINT orders_total CHECK (total_cents BETWEEN 1 AND 100000000000),
        created_at           timestamptz NOT NULL,
        state                text        NOT NULL CONSTRAINT orders_state CHECK (state IN ('awaiting-payment', 'paid')),
        payment_reference    text,
        paid_at              timestamptz,
        session_number       int         NOT NULL CONSTRAINT orders_session_number CHECK (session_number >= 1),
        session_requested_at timestamptz NOT NULL,
        session_id           uuid,
        redirect_url         text        CONSTRAINT orders_redirect_url CHECK (length(redirect_url) <= 2048),
        CONSTRAINT orders_session CHECK ((session_id IS NULL) = (redirect_url IS NULL)),
        CONSTRAINT orders_paid CHECK ((state = 'paid') = (payment_reference IS NOT NULL AND paid_at IS NOT NULL))
      );
      COMMENT ON COLUMN orders.checkout_key IS 'The page that was checked out and what was chosen on it: a double click is one order.';
      COMMENT ON COLUMN orders.lines IS 'What was bought, with the name and the price in cents at that time.';
      COMMENT ON COLUMN orders.total_cents IS 'Cents, ZAR; computed here, never taken from the browser.';
      COMMENT ON COLUMN orders.session_number IS 'Counts the payment sessions asked for; part of their requestId, so that a repeat is the same session.';
      COMMENT ON COLUMN orders.session_id IS 'The present session; absent until the platform has made it, as is its page.';
      COMMENT ON COLUMN orders.redirect_url IS 'The page of the present session.';

      CREATE TABLE received_webhooks (
        webhook_id        text        PRIMARY KEY CONSTRAINT received_webhooks_id_length CHECK (length(webhook_id) <= 200),
        order_id          uuid        NOT NULL REFERENCES orders,
        session_id        uuid        NOT NULL,
        payment_reference text        NOT NULL,
        payment_status    text        NOT NULL CONSTRAINT received_webhooks_status CHECK (payment_status IN ('Success', 'Failed')),
        user_message      text,
        payment_utc_date  timestamptz NOT NULL,
        received_at       timestamptz NOT NULL
      );
      CREATE INDEX received_webhooks_of_order ON received_webhooks (order_id, received_at);
      COMMENT ON TABLE received_webhooks IS 'One row for each verified notification, whatever the number of its deliveries.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
