/**
 * Compares the charges at the acquirer, the payments of payment-processor, the transfers of its ledger and the webhooks
 * that the merchant acknowledged. After any fault these records agree: no record is a duplicate, and no record is
 * missing.
 */
import { waitUntil } from '@svc/testing';
import type { MerchantEndpoint } from '../callers/merchant-endpoint.js';
import type { ChargeLine, Platform } from '../platform/platform.js';
import { DELIVERY_LEASE_MS, findUnjustifiedPosts, type Interruption, type RecordedAttempt } from './repeated-posts.js';

interface PaymentRow {
  readonly payment_reference: string;
  readonly state: string;
  readonly amount: number;
}

/** If the records are consistent, all numbers except `posts` are equal. */
export interface Totals {
  readonly charges: number;
  readonly payments: number;
  readonly transfers: number;
  /** Different webhook ids that the merchant acknowledged. */
  readonly notifications: number;
  /** POSTs that reached the merchant, acknowledged or not. */
  readonly posts: number;
}

export class ConsistencyCheck {
  constructor(
    private readonly platform: Platform,
    private readonly endpoint: MerchantEndpoint,
  ) {}

  approvedCharges(): ChargeLine[] {
    return this.platform.charges().filter(({ outcome }) => outcome === 'approved');
  }

  /** Charged payments that the merchant has not acknowledged yet. */
  unacknowledgedCharges(): ChargeLine[] {
    const known = new Set(
      this.endpoint.deliveries
        .filter(({ acknowledged }) => acknowledged)
        .map(({ payment }) => payment.paymentReference),
    );
    return this.approvedCharges().filter(({ paymentReference }) => !known.has(paymentReference));
  }

  /** Counts the payments that wait for the acquirer, according to payment-processor. */
  async countProcessing(): Promise<number> {
    const [row] = await this.platform.sql<{ count: number }>(
      `SELECT count(*)::int AS count FROM payment_processor.payments WHERE state = 'processing'`,
    );
    return row!.count;
  }

  /**
   * Waits until every charge is acknowledged and the dispatcher has recorded that. Makes later retries due now instead
   * of waiting for them. Does not change notifications that a running worker is sending, because that would cause the
   * duplicates that the tests look for.
   *
   * @param killedAt the time of a kill of the dispatcher, if there was one. A lease that began before this time does
   * not count, because its worker is dead.
   */
  async waitUntilAcknowledged(killedAt?: Date): Promise<void> {
    const expiredLeases = new Date((killedAt?.getTime() ?? 0) + DELIVERY_LEASE_MS);
    await waitUntil('the notification of every charge', 120_000, async () => {
      if (this.unacknowledgedCharges().length === 0 && (await this.countPendingNotifications()) === 0) return true;
      const now = new Date();
      await this.platform.sql(
        `UPDATE webhook_dispatcher.notifications SET next_attempt_at = $1, leased_until = least(leased_until, $1)
         WHERE state = 'pending' AND next_attempt_at > $1 AND (leased_until IS NULL OR leased_until <= $2)`,
        [now, expiredLeases],
      );
      await this.makeStatusQueriesDue();
      return false;
    });
  }

  /** Makes status queries to the acquirer due now. After a fault, the next status query may be due a minute later. */
  async makeStatusQueriesDue(): Promise<void> {
    const now = new Date();
    await this.platform.sql(
      `UPDATE payment_processor.attempts SET next_query_at = $1
       WHERE state IN ('started', 'unknown', 'reversing') AND next_query_at > $1 AND started_at < $2`,
      [now, new Date(now.getTime() - 10_000)],
    );
  }

  /** Counts the notifications that the dispatcher is sending, or still has to send. */
  private async countPendingNotifications(): Promise<number> {
    const [row] = await this.platform.sql<{ count: number }>(
      `SELECT count(*)::int AS count FROM webhook_dispatcher.notifications WHERE state = 'pending' AND url = $1`,
      [this.endpoint.url],
    );
    return row!.count;
  }

  /**
   * Expects that each POST is recorded. Another POST follows only a POST that the dispatcher aborted or could not
   * record (E5, E8).
   *
   * @param interruptions all interruptions of the dispatcher since the platform was started
   */
  async expectPostsToBeJustified(interruptions: readonly Interruption[]): Promise<void> {
    const attempts = await this.platform.sql<RecordedAttempt>(
      `SELECT n.id AS "webhookId", a.started_at AS "startedAt", a.duration_ms AS "durationMs", a.outcome,
              a.error_class AS "errorClass"
       FROM webhook_dispatcher.delivery_attempts a JOIN webhook_dispatcher.notifications n ON n.id = a.notification_id
       WHERE n.url = $1 ORDER BY n.id, a.attempt_number`,
      [this.endpoint.url],
    );
    expect(attempts.length).toBeGreaterThan(0);
    expect(findUnjustifiedPosts(this.endpoint.deliveries, attempts, interruptions)).toEqual([]);
  }

  async readTotals(): Promise<Totals> {
    const [row] = await this.platform.sql<{ payments: number; transfers: number }>(
      `SELECT (SELECT count(*)::int FROM payment_processor.payments) AS payments,
              (SELECT count(*)::int FROM payment_processor.transfers) AS transfers`,
    );
    const { deliveries } = this.endpoint;
    return {
      charges: this.approvedCharges().length,
      ...row!,
      notifications: new Set(deliveries.filter(({ acknowledged }) => acknowledged).map(({ webhookId }) => webhookId))
        .size,
      posts: deliveries.length,
    };
  }

  /** @param count number of payments, all of them successful */
  async expectConsistent(count: number): Promise<void> {
    const charges = this.approvedCharges();
    expect(this.platform.charges()).toHaveLength(count); // a reversed charge would be one more
    expect(charges).toHaveLength(count);
    const expected = byReference(
      charges.map(({ paymentReference, amount }) => ({
        payment_reference: paymentReference,
        state: 'success',
        amount,
      })),
    );

    // Exactly one successful payment for every charge, and no payment in any other state.
    const payments = await this.platform.sql<PaymentRow>(
      'SELECT payment_reference, state, amount FROM payment_processor.payments',
    );
    expect(byReference(numbers(payments))).toEqual(expected);

    // Exactly one transfer for every payment, of its amount.
    const transfers = await this.platform.sql<PaymentRow & { kind: string; differ: boolean }>(
      `SELECT p.payment_reference, p.state, t.amount, t.kind, t.debit_account <> t.credit_account AS differ
       FROM payment_processor.transfers t LEFT JOIN payment_processor.payments p USING (payment_id)`,
    );
    expect(byReference(numbers(transfers))).toEqual(expected.map((row) => ({ ...row, kind: 'capture', differ: true })));
    expect(total(numbers(transfers))).toBe(total(charges));

    // Each payment has webhooks. All webhooks of a payment have one id, and each webhook belongs to a charge.
    for (const { paymentReference, amount } of charges) {
      const deliveries = this.endpoint.deliveriesOf(paymentReference);
      expect(deliveries.filter(({ acknowledged }) => acknowledged).length).toBeGreaterThanOrEqual(1);
      expect(new Set(deliveries.map(({ webhookId }) => webhookId)).size).toBe(1);
      expect(deliveries[0]!.payment).toMatchObject({ paymentStatus: 'Success', amount });
    }
    const notified = new Set(this.endpoint.deliveries.map(({ payment }) => payment.paymentReference));
    expect([...notified].sort()).toEqual(charges.map(({ paymentReference }) => paymentReference).sort());
    expect(this.endpoint.invalidSignatures).toEqual([]);
  }
}

function byReference<T extends { payment_reference: string }>(rows: T[]): T[] {
  return rows.sort((a, b) => (a.payment_reference < b.payment_reference ? -1 : 1));
}

function numbers<T extends { amount: unknown }>(rows: T[]): T[] {
  return rows.map((row) => ({ ...row, amount: Number(row.amount) }));
}

function total(rows: readonly { amount: number }[]): number {
  return rows.reduce((sum, { amount }) => sum + amount, 0);
}
