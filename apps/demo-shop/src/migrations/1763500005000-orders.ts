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
      COMMENT ON COLUMN orders.checkout_key IS 'Identifies a shop page and the chosen quantities, so that a double click creates only one order.';
      COMMENT ON COLUMN orders.lines IS
        'Ordered products, with the name and the price in cents at the time of the order.';
      COMMENT ON COLUMN orders.total_cents IS
        'Cents, ZAR. The server computes the total. It never accepts a total from the browser.';
      COMMENT ON COLUMN orders.session_number IS 'Number of payment sessions that were requested. It is part of the requestId, so a retry gets the same session.';
      COMMENT ON COLUMN orders.session_id IS 'Current payment session. NULL until the platform has created the session.';
      COMMENT ON COLUMN orders.redirect_url IS 'Payment page of the current session. NULL while session_id is NULL.';

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
      COMMENT ON TABLE received_webhooks IS 'Verified notifications. A notification that is delivered several times has one row.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
