import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Creates the table of notifications, which are messages to merchants about the final payments of their sessions, and
 * the table of delivery attempts. A "try" is an attempt.
 */
export class Notifications1763500000500 implements MigrationInterface {
  readonly name = 'Notifications1763500000500';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE notifications (
        id                uuid        PRIMARY KEY,
        merchant_id       bigint      NOT NULL,
        site_id           bigint      NOT NULL,
        mode              text        NOT NULL CONSTRAINT notifications_mode CHECK (mode IN ('test', 'live')),
        session_id        uuid        NOT NULL,
        payment_reference text        NOT NULL CONSTRAINT notifications_payment_reference_length CHECK (length(payment_reference) = 18),
        payment_status    text        NOT NULL CONSTRAINT notifications_payment_status CHECK (payment_status IN ('Success', 'Failed')),
        api_version       text        NOT NULL CONSTRAINT notifications_api_version CHECK (api_version IN ('v3', 'v3.1')),
        url               text        NOT NULL CONSTRAINT notifications_url_length CHECK (length(url) <= 2048),
        endpoint          text        NOT NULL CONSTRAINT notifications_endpoint_length CHECK (length(endpoint) BETWEEN 1 AND 300),
        fields            jsonb       NOT NULL,
        state             text        NOT NULL
          CONSTRAINT notifications_state CHECK (state IN ('pending', 'delivered', 'superseded', 'exhausted', 'gone')),
        tries             int         NOT NULL DEFAULT 0 CONSTRAINT notifications_tries CHECK (tries >= 0),
        schedule_position int         NOT NULL DEFAULT 0
          CONSTRAINT notifications_schedule_position CHECK (schedule_position BETWEEN 0 AND 12),
        next_attempt_at   timestamptz,
        lease_id          uuid,
        leased_until      timestamptz,
        created_at        timestamptz NOT NULL,
        delivered_at      timestamptz,
        CONSTRAINT notifications_one_per_payment UNIQUE (payment_reference),
        CONSTRAINT notifications_due_while_pending CHECK ((state = 'pending') = (next_attempt_at IS NOT NULL)),
        CONSTRAINT notifications_delivered_at CHECK (state <> 'delivered' OR delivered_at IS NOT NULL),
        CONSTRAINT notifications_lease CHECK ((lease_id IS NULL) = (leased_until IS NULL)),
        CONSTRAINT notifications_superseded_failed CHECK (state <> 'superseded' OR payment_status = 'Failed')
      );
      CREATE INDEX notifications_due ON notifications (endpoint, next_attempt_at) WHERE state = 'pending';
      CREATE INDEX notifications_of_session ON notifications (session_id);
      CREATE INDEX notifications_of_merchant ON notifications (merchant_id, id);
      CREATE INDEX notifications_given_up ON notifications (state, id) WHERE state IN ('exhausted', 'gone');

      COMMENT ON TABLE notifications IS 'Notifications to merchants, one for each final payment of a hosted session, with the state of the delivery.';
      COMMENT ON COLUMN notifications.id IS 'The webhook-id header, which is the same in every attempt.';
      COMMENT ON COLUMN notifications.payment_status IS 'Also in fields. It is a column because superseding and leasing filter by it.';
      COMMENT ON COLUMN notifications.endpoint IS
        'Host and port of the url. The limit of concurrent attempts applies to an endpoint.';
      COMMENT ON COLUMN notifications.fields IS 'Body of the request without its signature. Amounts are in cents.';
      COMMENT ON COLUMN notifications.tries IS 'Number of all attempts, which is also the number of the last attempt.';
      COMMENT ON COLUMN notifications.schedule_position IS 'Number of attempts since the retry schedule started. A replay restarts the schedule.';
      COMMENT ON COLUMN notifications.next_attempt_at IS 'When the next attempt is due. During an attempt, the end of the lease.';
      COMMENT ON COLUMN notifications.leased_until IS 'End of the lease. Until then only the worker with lease_id may send the notification.';

      CREATE TABLE delivery_attempts (
        notification_id uuid        NOT NULL REFERENCES notifications (id),
        try             int         NOT NULL CONSTRAINT delivery_attempts_try CHECK (try > 0),
        started_at      timestamptz NOT NULL,
        duration_ms     int         NOT NULL CONSTRAINT delivery_attempts_duration CHECK (duration_ms >= 0),
        outcome         text        NOT NULL
          CONSTRAINT delivery_attempts_outcome CHECK (outcome IN ('acknowledged', 'refused', 'unanswered')),
        status_code     int         CONSTRAINT delivery_attempts_status_code CHECK (status_code BETWEEN 100 AND 999),
        error_class     text        CONSTRAINT delivery_attempts_error_class CHECK (length(error_class) <= 100),
        answer          text        CONSTRAINT delivery_attempts_answer CHECK (length(answer) <= 2000),
        PRIMARY KEY (notification_id, try),
        CONSTRAINT delivery_attempts_unanswered CHECK ((outcome = 'unanswered') = (status_code IS NULL)),
        CONSTRAINT delivery_attempts_explained CHECK (outcome <> 'unanswered' OR error_class IS NOT NULL)
      );
      COMMENT ON TABLE delivery_attempts IS
        'Append-only log of all delivery attempts and the responses of the endpoints.';
      COMMENT ON COLUMN delivery_attempts.outcome IS 'acknowledged: 2xx. refused: another status. unanswered: no status, and error_class has the reason.';
      COMMENT ON COLUMN delivery_attempts.answer IS 'First characters of the response, for support. Other merchants must never see it.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
