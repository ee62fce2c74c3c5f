/**
 * The books of everybody who keeps some: what the bank charged, what payment-processor recorded, what its ledger moved
 * and what the merchant was told. After whatever happened, they agree: nothing twice, nothing missing.
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

/** How many of each; the first four are equal when the books agree. */
export interface Totals {
  readonly charges: number;
  readonly payments: number;
  readonly transfers: number;
  /** Different webhook ids that the merchant acknowledged. */
  readonly notifications: number;
  /** POSTs that reached the merchant, acknowledged or not. */
  readonly posts: number;
}

export class Books {
  constructor(
    private readonly platform: Platform,
    private readonly endpoint: MerchantEndpoint,
  ) {}

  approved(): ChargeLine[] {
    return this.platform.charges().filter(({ outcome }) => outcome === 'approved');
  }

  /** Charged, and the merchant has not acknowledged that he knows. */
  underWay(): ChargeLine[] {
    const known = new Set(
      this.endpoint.deliveries
        .filter(({ acknowledged }) => acknowledged)
        .map(({ payment }) => payment.paymentReference),
    );
    return this.approved().filter(({ paymentReference }) => !known.has(paymentReference));
  }

  /** Payments that wait for the bank, as payment-processor sees it. */
  async processing(): Promise<number> {
    const [row] = await this.platform.sql<{ count: number }>(
      `SELECT count(*)::int AS count FROM payment_processor.payments WHERE state = 'processing'`,
    );
    return row!.count;
  }

  /**
   * Waits until every charge is acknowledged, and the dispatcher has recorded that. What would be tried again later is moved to now, not waited for; what a
   * living worker is just sending is left to it, or this would make the duplicates it is there to find.
   *
   * @param diedAt when whoever held leases ended, if anybody did: theirs are over
   */
  async everyoneHasHeard(diedAt?: Date): Promise<void> {
    const leasedByTheDead = new Date((diedAt?.getTime() ?? 0) + DELIVERY_LEASE_MS);
    await waitUntil('the notification of every charge', 120_000, async () => {
      if (this.underWay().length === 0 && (await this.pendingNotifications()) === 0) return true;
      const now = new Date();
      await this.platform.sql(
        `UPDATE webhook_dispatcher.notifications SET next_attempt_at = $1, leased_until = least(leased_until, $1)
         WHERE state = 'pending' AND next_attempt_at > $1 AND (leased_until IS NULL OR leased_until <= $2)`,
        [now, leasedByTheDead],
      );
      await this.makeQuestionsDue();
      return false;
    });
  }

  /** The next question to the bank may be a minute away: the bank was away, or the process that was to ask has died. */
  async makeQuestionsDue(): Promise<void> {
    const now = new Date();
    await this.platform.sql(
      `UPDATE payment_processor.attempts SET next_ask_at = $1
       WHERE state IN ('started', 'unknown', 'reversing') AND next_ask_at > $1 AND started_at < $2`,
      [now, new Date(now.getTime() - 10_000)],
    );
  }

  /** Notifications that the dispatcher is still to send, or is just sending. */
  private async pendingNotifications(): Promise<number> {
    const [row] = await this.platform.sql<{ count: number }>(
      `SELECT count(*)::int AS count FROM webhook_dispatcher.notifications WHERE state = 'pending' AND url = $1`,
      [this.endpoint.url],
    );
    return row!.count;
  }

  /**
   * Each POST is recorded, and another followed only one that the dispatcher gave up or could not record (E5, E8).
   *
   * @param interruptions of the dispatcher since the platform was started; none: it has lived on
   */
  async expectPostsToBeJustified(interruptions: readonly Interruption[]): Promise<void> {
    const attempts = await this.platform.sql<RecordedAttempt>(
      `SELECT n.id AS "webhookId", a.started_at AS "startedAt", a.duration_ms AS "durationMs", a.outcome,
              a.error_class AS "errorClass"
       FROM webhook_dispatcher.delivery_attempts a JOIN webhook_dispatcher.notifications n ON n.id = a.notification_id
       WHERE n.url = $1 ORDER BY n.id, a.try`,
      [this.endpoint.url],
    );
    expect(attempts.length).toBeGreaterThan(0);
    expect(findUnjustifiedPosts(this.endpoint.deliveries, attempts, interruptions)).toEqual([]);
  }

  async totals(): Promise<Totals> {
    const [row] = await this.platform.sql<{ payments: number; transfers: number }>(
      `SELECT (SELECT count(*)::int FROM payment_processor.payments) AS payments,
              (SELECT count(*)::int FROM payment_processor.transfers) AS transfers`,
    );
    const { deliveries } = this.endpoint;
    return {
      charges: this.approved().length,
      ...row!,
      notifications: new Set(deliveries.filter(({ acknowledged }) => acknowledged).map(({ webhookId }) => webhookId))
        .size,
      posts: deliveries.length,
    };
  }

  /** @param count of payments that were made, all of them successful */
  async expectToAgree(count: number): Promise<void> {
    const charges = this.approved();
    expect(this.platform.charges()).toHaveLength(count); // also none that was reversed
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

    // Each was told, at least once, under one id; nothing was told that is not in the bank's books.
    for (const { paymentReference, amount } of charges) {
      const deliveries = this.endpoint.of(paymentReference);
      expect(deliveries.filter(({ acknowledged }) => acknowledged).length).toBeGreaterThanOrEqual(1);
      expect(new Set(deliveries.map(({ webhookId }) => webhookId)).size).toBe(1);
      expect(deliveries[0]!.payment).toMatchObject({ paymentStatus: 'Success', amount });
    }
    const told = new Set(this.endpoint.deliveries.map(({ payment }) => payment.paymentReference));
    expect([...told].sort()).toEqual(charges.map(({ paymentReference }) => paymentReference).sort());
    expect(this.endpoint.forged).toEqual([]);
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
