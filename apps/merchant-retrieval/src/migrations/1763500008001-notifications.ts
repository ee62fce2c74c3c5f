import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The notifications of the stream (M6), and the positions that its readers resume from. */
export class Notifications1763500008001 implements MigrationInterface {
  readonly name = 'Notifications1763500008001';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE notifications (
        notification_id   uuid        PRIMARY KEY,
        merchant_id bigint      NOT NULL,
        site_id     bigint      NOT NULL,
        mode        text        NOT NULL CONSTRAINT notifications_mode CHECK (mode IN ('test', 'live')),
        position    bigint      NOT NULL CONSTRAINT notifications_position CHECK (position > 0),
        type        text        NOT NULL CONSTRAINT notifications_type CHECK (type IN ('payment', 'refund')),
        body        text        NOT NULL CONSTRAINT notifications_body CHECK (octet_length(body) BETWEEN 2 AND 1048576),
        kept_since  timestamptz NOT NULL,
        CONSTRAINT notifications_of_site UNIQUE (merchant_id, site_id, mode, position)
      );
      CREATE INDEX notifications_kept_since ON notifications (kept_since);
      COMMENT ON TABLE notifications IS 'Final payments and refunds of each site, as the stream of the site sends them (M6). Deleted after some days.';
      COMMENT ON COLUMN notifications.notification_id IS
        'Derived from the payment, so an event that is delivered again inserts nothing.';
      COMMENT ON COLUMN notifications.position IS 'Increases within a site and mode, in commit order. Gaps are possible.';
      COMMENT ON COLUMN notifications.body IS 'JSON text. The stream sends it unchanged.';
      CREATE TABLE notification_positions (
        merchant_id bigint NOT NULL,
        site_id     bigint NOT NULL,
        mode        text   NOT NULL CONSTRAINT notification_positions_mode CHECK (mode IN ('test', 'live')),
        newest      bigint NOT NULL,
        removed     bigint NOT NULL DEFAULT 0,
        PRIMARY KEY (merchant_id, site_id, mode),
        CONSTRAINT notification_positions_order CHECK (removed BETWEEN 0 AND newest)
      ) WITH (fillfactor = 50);
      COMMENT ON TABLE notification_positions IS 'Newest position of each site and mode. A transaction that inserts notifications locks this row until it commits, so positions become visible in order.';
      COMMENT ON COLUMN notification_positions.newest IS 'Last position that was assigned.';
      COMMENT ON COLUMN notification_positions.removed IS 'Notifications up to this position were deleted. A reader that has not read them cannot resume.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
