import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds notifications to the webhooks of sites. Existing rows keep their meaning: the recipient is a session's
 * notificationUrl, and the id is the webhook-id.
 */
export class SiteWebhooks1763500000508 implements MigrationInterface {
  readonly name = 'SiteWebhooks1763500000508';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      -- The unique index covers all notifications, so its creation takes long. Nothing is delivered meanwhile.
      SET LOCAL statement_timeout = 300000;
      CREATE TABLE sites (
        site_id         bigint  PRIMARY KEY,
        merchant_id     bigint  NOT NULL,
        site_reference  text    NOT NULL CONSTRAINT sites_reference_length CHECK (length(site_reference) BETWEEN 1 AND 100),
        webhook_url     text    CONSTRAINT sites_webhook_url_length CHECK (length(webhook_url) BETWEEN 1 AND 2048),
        webhook_enabled boolean NOT NULL DEFAULT false,
        version         bigint  NOT NULL,
        CONSTRAINT sites_webhook CHECK (NOT webhook_enabled OR webhook_url IS NOT NULL)
      );
      COMMENT ON TABLE sites IS 'Read model of the sites that identity published.';

      ALTER TABLE notifications
        ADD COLUMN recipient  text NOT NULL DEFAULT 'session',
        ADD COLUMN type       text NOT NULL DEFAULT 'payment',
        ADD COLUMN webhook_id uuid,
        ALTER COLUMN session_id DROP NOT NULL,
        ALTER COLUMN api_version DROP NOT NULL,
        ADD CONSTRAINT notifications_recipient CHECK (
          CASE recipient
            WHEN 'session' THEN type = 'payment' AND session_id IS NOT NULL AND api_version IS NOT NULL
            WHEN 'site' THEN type IN ('payment', 'refund') AND session_id IS NULL AND api_version IS NULL AND webhook_id IS NOT NULL
            ELSE false
          END) NOT VALID;
      CREATE UNIQUE INDEX notifications_one_each ON notifications (payment_reference, recipient, webhook_id) NULLS NOT DISTINCT;
      ALTER TABLE notifications DROP CONSTRAINT notifications_one_per_payment;
      COMMENT ON TABLE notifications IS 'Notifications to merchants: one for each final payment of a hosted session, and one for each final payment and each refund of a site whose webhook is enabled.';
      COMMENT ON COLUMN notifications.id IS 'Also the webhook-id header, unless webhook_id is set.';
      COMMENT ON COLUMN notifications.webhook_id IS 'The webhook-id header. If it is NULL, id is the header. Both recipients of one payment get one header.';
      COMMENT ON COLUMN notifications.recipient IS 'session: the notificationUrl of a session (E2). site: the webhook of a site (M6).';
      COMMENT ON COLUMN notifications.session_id IS 'NULL for a site, because notifications of a site are never superseded.';
      COMMENT ON COLUMN notifications.fields IS 'Body of the request. The body for a session is stored without its signature. Amounts are in cents.';

      -- The function now also accepts rows for sites. Such a row has no session, takes no lock and supersedes nothing.
      -- If an earlier release passes no recipient, the recipient is the session.
      CREATE OR REPLACE FUNCTION record_notifications(given jsonb, now timestamptz, lease uuid, lease_end timestamptz) RETURNS SETOF uuid
      LANGUAGE plpgsql AS $$
      BEGIN
        -- Wait for the locks first. Each later statement has a new snapshot, so it sees the rows that the previous
        -- holder of the locks committed.
        PERFORM lock_sessions(ARRAY(SELECT g.session_id FROM jsonb_to_recordset(given) AS g(session_id uuid) WHERE g.session_id IS NOT NULL));

        -- A recipient gets one notification for the payment and one for each refund. A repeated event inserts no
        -- second one.
        RETURN QUERY WITH recorded AS (
          INSERT INTO notifications (id, webhook_id, recipient, type, merchant_id, site_id, mode, session_id, payment_reference, payment_status,
                                     api_version, url, endpoint, fields, traceparent, state, next_attempt_at, created_at, lease_id, leased_until)
          SELECT j.id, j.webhook_id, coalesce(j.recipient, 'session'), coalesce(j.type, 'payment'), j.merchant_id, j.site_id, j.mode, j.session_id,
                 j.payment_reference, j.payment_status, j.api_version, j.url, j.endpoint,
                 j.fields, j.traceparent, CASE WHEN j.late THEN 'superseded' ELSE 'pending' END,
                 CASE WHEN j.late THEN NULL WHEN j.leased THEN lease_end ELSE now END, now,
                 CASE WHEN j.leased THEN lease END, CASE WHEN j.leased THEN lease_end END
            FROM (SELECT l.*, l.has_place AND NOT l.late AND (l.payment_status = 'Failed' OR NOT EXISTS (
                           SELECT 1 FROM notifications failed
                            WHERE failed.session_id = l.session_id AND failed.payment_status = 'Failed' AND failed.leased_until > now))
                           AND NOT EXISTS (SELECT 1 FROM circuits open WHERE open.merchant_id = l.merchant_id
                                              AND open.endpoint = l.endpoint AND open.open_until IS NOT NULL) AS leased
                    FROM (SELECT g.*, g.payment_status = 'Failed' AND EXISTS (
                                   SELECT 1 FROM notifications paid
                                    WHERE paid.session_id = g.session_id AND paid.payment_status = 'Success') AS late
                            FROM jsonb_to_recordset(given) AS g(
                                   id uuid, webhook_id uuid, recipient text, type text, merchant_id bigint, site_id bigint, mode text, session_id uuid,
                                   payment_reference text, payment_status text, api_version text, url text, endpoint text, fields jsonb,
                                   traceparent text, has_place boolean)) AS l) AS j
           -- All transactions insert in the same order, so that two batches with the same notifications cannot deadlock.
           ORDER BY j.payment_reference, j.recipient, j.webhook_id
          ON CONFLICT DO NOTHING
          RETURNING notifications.id, lease_id)
        SELECT recorded.id FROM recorded WHERE lease_id IS NOT NULL;

        -- Keep the lease of a Failed notification: the process that is sending it finishes, and only then the Success
        -- notification is sent.
        UPDATE notifications SET state = 'superseded', next_attempt_at = NULL
         WHERE session_id IN (SELECT g.session_id FROM jsonb_to_recordset(given) AS g(session_id uuid, payment_status text)
                               WHERE g.payment_status = 'Success')
           AND payment_status = 'Failed' AND state IN ('pending', 'exhausted', 'gone');
      END $$;
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
