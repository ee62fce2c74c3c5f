/**
 * Helpers of tests that cause a fault while a distributed platform has at least 20 payments between charge and webhook.
 * They check that after the fault every charge has one payment and one ledger entry, and that the merchant has
 * acknowledged its webhook. No record is missing or a duplicate.
 */
import { letTimePass, waitUntil } from '@svc/testing';
import { createSessions, gatewayClient } from '../callers/merchant.js';
import { type Answer, MerchantEndpoint } from '../callers/merchant-endpoint.js';
import {
  type PayAnswer,
  type PayRequest,
  preparePayRequest,
  resendPayRequests,
  sendPayRequest,
} from '../callers/payer.js';
import { ConsistencyCheck, type Totals } from '../consistency/consistency-check.js';
import type { Interruption } from '../consistency/repeated-posts.js';
import { Platform } from '../platform/platform.js';

/**
 * The acquirer charges at once and answers after this time. A longer time would not help: after 2 s the recovery job
 * queries the charge, and the payment no longer waits for the acquirer.
 */
const LATENCY_MS = 3_000;
/** Payments whose notification the merchant has not answered at the fault. */
const UNANSWERED_NOTIFICATIONS = 8;
/** Payments whose charge the acquirer has not answered at the fault. */
const UNANSWERED_CHARGES = 16;
const MIN_UNFINISHED = 20;
/** While the circuit of the acquirer is open, payments fail. It opens when the acquirer is killed. */
const CIRCUIT_OPEN_MS = 5_000;

interface FaultResult {
  readonly fault: string;
  readonly unfinished: string;
  readonly seconds: number;
  readonly totals: Totals;
}

export interface UnfinishedPayments {
  readonly payRequests: readonly PayRequest[];
  /** Settles when each Pay request that is open during the fault has an answer or has failed. */
  readonly answered: Promise<unknown>;
}

export class FaultDrill {
  private answer: Answer = 200;
  private before!: Totals;
  private startedAt = 0;
  private dispatcherPid = 0;
  private readonly results: FaultResult[] = [];
  /** All interruptions of the dispatcher so far. */
  private readonly interruptions: Interruption[] = [];

  private constructor(
    readonly platform: Platform,
    readonly endpoint: MerchantEndpoint,
    readonly consistency: ConsistencyCheck,
  ) {}

  /** @param name name of the platform's data folder */
  static async start(name: string): Promise<FaultDrill> {
    const platform = await Platform.start(name, { SVC_ACQUIRER_LATENCY_MS: String(LATENCY_MS) }, 'distributed');
    const endpoint = await MerchantEndpoint.start(platform.site(0, 0).webhookSecret, () => drill.answer);
    const drill = new FaultDrill(platform, endpoint, new ConsistencyCheck(platform, endpoint));
    return drill;
  }

  async stop(): Promise<void> {
    if (this.results.length > 0) process.stdout.write(`${formatTable(this.results)}\n`);
    this.endpoint.release();
    await this.platform.stop();
    await this.endpoint.stop();
  }

  /** Prepares for a fault: waits until all services are ready, and reads the totals. */
  async begin(): Promise<void> {
    await waitUntil('all services to be ready', 60_000, () => this.platform.isReady());
    this.before = await this.consistency.readTotals();
    this.startedAt = Date.now();
    this.dispatcherPid = this.platform.process('webhook-dispatcher').pid;
  }

  /** Number of charges before this fault. */
  get chargesBefore(): number {
    return this.before.charges;
  }

  /** From now on the merchant acknowledges deliveries, including those without an answer so far. */
  acknowledge(): void {
    this.answer = 200;
    this.endpoint.release();
  }

  async preparePayRequests(count: number): Promise<PayRequest[]> {
    const sessions = await createSessions(gatewayClient(this.platform), count, this.endpoint.url);
    return Promise.all(sessions.map(({ redirectUrl }) => preparePayRequest(redirectUrl)));
  }

  sendAll(requests: readonly PayRequest[]): Promise<PromiseSettledResult<PayAnswer>[]> {
    return Promise.allSettled(requests.map((one) => sendPayRequest(this.platform.demo.gatewayUrl, one)));
  }

  /** Repeats each request until it has an answer. */
  resendAll(requests: readonly PayRequest[]): Promise<void> {
    return resendPayRequests(this.platform.demo.gatewayUrl, requests, () => this.consistency.makeStatusQueriesDue());
  }

  /** Leaves some notifications without the merchant's answer, and the other payments without the acquirer's answer. */
  async startPayments(): Promise<UnfinishedPayments> {
    const payRequests = await this.preparePayRequests(UNANSWERED_NOTIFICATIONS + UNANSWERED_CHARGES);
    this.answer = 'hold';
    await this.sendAll(payRequests.slice(0, UNANSWERED_NOTIFICATIONS));
    await waitUntil('the unanswered notifications', 20_000, () =>
      Promise.resolve(this.endpoint.heldCount === UNANSWERED_NOTIFICATIONS),
    );
    const answered = this.sendAll(payRequests.slice(UNANSWERED_NOTIFICATIONS));
    const charges = this.before.charges + payRequests.length;
    await waitUntil('the charges', 20_000, () =>
      Promise.resolve(this.consistency.approvedCharges().length === charges),
    );
    return { payRequests, answered };
  }

  /**
   * Recovers from the fault: the merchant answers, half of the payers repeat their request as the page's script does,
   * and the other half never come back. Then compares acquirer, payments, ledger and webhooks.
   */
  async expectNothingLost(
    fault: string,
    { payRequests, answered }: UnfinishedPayments,
    unfinished: string,
    interruption?: Interruption,
  ): Promise<void> {
    this.acknowledge();
    await answered;
    await this.resendAll(payRequests.filter((_, index) => index % 2 === 0));
    await this.consistency.waitUntilAcknowledged(interruption?.from);
    const count = this.before.charges + payRequests.length;
    await waitUntil(
      'the ledger entries',
      30_000,
      async () => (await this.consistency.readTotals()).transfers === count,
    );
    await this.consistency.expectConsistent(count);
    const totals = await this.consistency.readTotals();
    const difference = Object.fromEntries(
      Object.entries(totals).map(([name, value]) => [name, (value as number) - this.before[name as keyof Totals]]),
    ) as unknown as Totals;
    this.results.push({ fault, unfinished, seconds: (Date.now() - this.startedAt) / 1000, totals: difference });
    const { charges, payments, transfers, notifications } = difference;
    expect({ charges, payments, transfers, notifications }).toEqual({
      charges: payRequests.length,
      payments: payRequests.length,
      transfers: payRequests.length,
      notifications: payRequests.length,
    });
    if (interruption) this.interruptions.push(interruption);
    else expect(this.platform.process('webhook-dispatcher').pid).toBe(this.dispatcherPid);
    await this.consistency.expectPostsToBeJustified(this.interruptions);
  }

  /**
   * The kill of the acquirer opened its circuit. Sends a single payment when the circuit is half-open, and expects that
   * this payment succeeds. It closes the circuit.
   */
  async closeAcquirerCircuit(): Promise<void> {
    const opening = this.platform
      .log()
      .split('\n')
      .findLast((line) => line.includes('its circuit is open'));
    const { time } = JSON.parse(opening!) as { time: string };
    await letTimePass(Date.parse(time) + CIRCUIT_OPEN_MS - Date.now());
    const [probe] = await this.preparePayRequests(1);
    expect(await this.sendAll([probe!])).toMatchObject([{ status: 'fulfilled', value: { state: 'succeeded' } }]);
    await this.consistency.waitUntilAcknowledged();
  }

  /** Counts, just before the fault, the payments in each state. */
  async describeUnfinished(): Promise<string> {
    const processing = await this.consistency.countProcessing();
    const unfinished = this.consistency.unacknowledgedCharges().length;
    expect(unfinished).toBeGreaterThanOrEqual(MIN_UNFINISHED);
    expect(processing).toBeGreaterThan(0);
    return `${unfinished}: ${processing} at the acquirer, ${this.endpoint.heldCount} notifications unanswered`;
  }
}

function formatTable(results: readonly FaultResult[]): string {
  const rows = [
    ['fault', 'unfinished', 'charges', 'payments', 'transfers', 'notification ids', 'POSTs', 'seconds'],
    ...results.map(({ fault, unfinished, seconds, totals }) => [
      fault,
      unfinished,
      ...[totals.charges, totals.payments, totals.transfers, totals.notifications, totals.posts].map(String),
      seconds.toFixed(1),
    ]),
  ];
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column]!)).join('  ')).join('\n');
}
