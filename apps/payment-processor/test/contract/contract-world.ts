import { randomUUID } from 'node:crypto';
import type { HostedPayableDescriptor, HostedPaymentSnapshot, PayerContext } from '@svc/contracts';
import { type HttpResponse, waitUntil } from '@svc/testing';
import type { Acquirer } from '../../src/acquirers/acquirer.js';
import { Acquirers } from '../../src/acquirers/acquirers.js';
import { RequestCaptures } from '../../src/captures/request-captures.js';
import { DeleteCard } from '../../src/cards/delete-card.js';
import { ApplyReports } from '../../src/reports/apply-reports.js';
import { buildPayable } from '../builders.js';
import { encryptCard } from '../encrypted-card.js';
import { createRefundClient, type RefundClient } from '../merchant-key.js';
import { createMerchant } from '../partner.js';
import { type Processor, startProcessor } from '../processor.js';
import type { AcquirerDriver, CardBehaviour, ReportSelection } from './acquirer-driver.js';
import { ContractNetwork } from './network.js';

/** The tests advance the clock by days. Therefore payables and encrypted cards expire late. */
const EXPIRES_AT = '2999-01-01T00:00:00.000Z';
const MINUTE_MS = 60_000;
/** Longer than the time after which an attempt without an outcome, or a verification, ends. */
export const ABANDONED_AFTER_MS = 16 * MINUTE_MS;
/** Longer than the time for which a request for a refund waits. */
const REFUND_TIMEOUT_MS = 21_000;
/** Intervals after which the jobs run, until nothing is open. They are the intervals of the jobs' own retries. */
const JOB_INTERVALS_MS: readonly number[] = [0, 2_000, 10_000, MINUTE_MS, 5 * MINUTE_MS, 5 * MINUTE_MS, 65 * MINUTE_MS];
/** No job waits for longer between two steps. */
const LONGEST_INTERVAL_MS = 65 * MINUTE_MS;

const PAYER: PayerContext = {
  address: '192.0.2.17',
  email: 'payer@shop.example',
  browser: {
    acceptHeader: 'text/html',
    userAgent: 'Mozilla/5.0',
    language: 'en-ZA',
    screenWidth: 1440,
    screenHeight: 900,
    colorDepth: 24,
    timeZoneOffsetMinutes: -120,
    javaScriptEnabled: true,
  },
};

/** A payment of the case, with the payable that it pays. */
export interface ContractPayment {
  readonly payable: HostedPayableDescriptor;
  readonly paymentReference: string;
  readonly snapshot: HostedPaymentSnapshot;
}

/** The stored states of a payment. */
export interface PaymentStates {
  readonly payment: string;
  readonly payable: string;
  /** States of its attempts, oldest first. */
  readonly attempts: readonly string[];
  /** `errorReference` of its errors. */
  readonly error: string | undefined;
}

/** The service with one acquirer. Each case has a merchant of its own. */
export class ContractWorld {
  /** The number of every card that the cases used. */
  readonly cardNumbers = new Set<string>();
  merchantId!: number;
  /** Whether {@link runJobs} delivers the acquirer's reports. */
  deliversReports = true;
  private siteId = 70_000;
  private backOffice!: RefundClient;

  private constructor(
    readonly driver: AcquirerDriver,
    readonly processor: Processor,
    readonly network: ContractNetwork,
    readonly acquirer: Acquirer,
  ) {}

  static async start(driver: AcquirerDriver, settings: Record<string, string> = {}): Promise<ContractWorld> {
    const env = { ...(await driver.start()), ...settings };
    const network = new ContractNetwork();
    const processor = await startProcessor(env);
    const { app } = processor.service;
    await app.get(DeleteCard).onApplicationShutdown();
    await driver.connect(processor, network);
    return new ContractWorld(driver, processor, network, app.get(Acquirers).get(driver.acquirer));
  }

  async stop(): Promise<void> {
    await this.processor.stop();
    await this.driver.stop();
    this.network.stop();
  }

  /** Creates the merchant of the next case. */
  async beginCase(): Promise<void> {
    // Failures of the last case are not in a row with failures of this case.
    this.processor.clock.advance(5 * MINUTE_MS);
    this.network.clear();
    this.deliversReports = true;
    const fees = { test: { basisPoints: 285, fixedAmount: 199 } };
    ({ merchantId: this.merchantId } = await createMerchant(this.processor, { fees }, ++this.siteId));
    const account = this.driver.accountOf(this.merchantId);
    if (account !== undefined)
      await this.processor.superuser.query(
        `INSERT INTO merchant_accounts (merchant_id, mode, version, acquirer, account, set_at, set_by)
         VALUES ($1, 'test', 1, $2, $3, now(), 'test')`,
        [this.merchantId, this.driver.acquirer, account],
      );
    this.backOffice = await createRefundClient(this.processor, { merchantId: this.merchantId });
  }

  /** @param amount cents */
  newPayable(amount = 12_345): HostedPayableDescriptor {
    const { merchantId, siteId } = this;
    return buildPayable({ merchantId, siteId, amount, expiresAt: EXPIRES_AT });
  }

  /** Pays by the hosted page with a card of this behaviour; by default a new payable, and an approved card. */
  async pay(
    behaviour: CardBehaviour = 'approved',
    {
      payable = this.newPayable(),
      paymentNumber = 1,
    }: { payable?: HostedPayableDescriptor; paymentNumber?: number } = {},
  ): Promise<ContractPayment> {
    const card = this.driver.card(behaviour);
    this.cardNumbers.add(card.cardNumber);
    const binding = { sessionId: payable.payableId, paymentNumber, expiresAt: EXPIRES_AT };
    const encryptedCard = await encryptCard(this.processor.cardKey, binding, { ...card });
    const command = { encryptedCard, payer: PAYER };
    const snapshot = await this.processor.pay(payable, { command, paymentNumber, isOwnerKnown: false });
    return { payable, paymentReference: snapshot.paymentReference, snapshot };
  }

  /**
   * Runs a callback after the acquirer's next response of a method, before the service gets the response. Returns a
   * function that removes the callback.
   */
  beforeNextResponse(method: 'charge' | 'refund', run: () => Promise<unknown>): () => void {
    const acquirer = this.acquirer as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
    const original = acquirer[method]!.bind(acquirer);
    const forget = (): void => void delete acquirer[method];
    acquirer[method] = async (...args) => {
      forget();
      const response = await original(...args);
      await run();
      return response;
    };
    return forget;
  }

  /** Answers on the bank's page, and follows the payer through this service. Returns the page on which the payer ends. */
  async answerChallenge({ snapshot }: ContractPayment, answer: 'fail' | 'pass'): Promise<string> {
    return this.returnFromBank(await this.driver.answerChallenge(snapshot.verificationUrl!, answer));
  }

  /** Opens the URL to which the bank redirected the payer, which is a URL of this service. */
  async returnFromBank(url: string): Promise<string> {
    const { pathname, search } = new URL(url);
    const { headers } = await this.processor.service.app.inject({ method: 'GET', url: pathname + search });
    return String(headers['location']);
  }

  /** The payments of the payable, as the payer's page polls them. */
  poll({ payable }: ContractPayment): Promise<HostedPaymentSnapshot[]> {
    this.processor.clock.advance(1_000);
    return this.processor.pollPayments(payable);
  }

  /** Delivers withheld reports and applies them. Returns the number of the delivered. */
  async deliverReports(selection?: ReportSelection): Promise<number> {
    const delivered = await this.driver.deliverReports(selection);
    await this.applyReports();
    return delivered;
  }

  /** Applies all stored reports that are due. */
  async applyReports(): Promise<void> {
    while ((await this.processor.service.app.get(ApplyReports).runStep()) > 0);
  }

  /** Runs each job once. */
  async runJobs(): Promise<void> {
    const { processor, driver } = this;
    const { app } = processor.service;
    await processor.recoverAttempts();
    await app.get(RequestCaptures).runStep(driver.acquirer);
    if (this.deliversReports) await driver.deliverReports();
    await this.applyReports();
    await app.get(RequestCaptures).runStep(driver.acquirer);
    await processor.recoverRefunds();
    await processor.runCleanup();
    await app.get(DeleteCard).deleteAtAcquirer(driver.acquirer);
    if (this.deliversReports) await driver.deliverReports();
    await this.applyReports();
  }

  /** Runs the jobs until nothing is open, and once more after an hour, in which nothing more may happen. */
  async settle(): Promise<void> {
    for (const interval of JOB_INTERVALS_MS) {
      await this.runJobsAfter(interval);
      if (await this.isSettled()) break;
    }
    await this.runJobsAfter(LONGEST_INTERVAL_MS);
  }

  /** Whether no job has a row that is due, now or later. */
  private async isSettled(): Promise<boolean> {
    const [row] = await this.processor.dataSource.query<[{ isSettled: boolean }]>(
      `SELECT NOT EXISTS (SELECT FROM attempts WHERE next_query_at IS NOT NULL)
          AND NOT EXISTS (SELECT FROM captures WHERE next_request_at IS NOT NULL OR next_release_at IS NOT NULL)
          AND NOT EXISTS (SELECT FROM refunds WHERE next_query_at IS NOT NULL)
          AND NOT EXISTS (SELECT FROM reversals WHERE next_request_at IS NOT NULL)
          AND NOT EXISTS (SELECT FROM acquirer_reports WHERE next_apply_at IS NOT NULL)
          AND NOT EXISTS (SELECT FROM verifications WHERE open)
          AND NOT EXISTS (SELECT FROM cards WHERE deleted_at IS NOT NULL AND vault_deleted_at IS NULL) AS "isSettled"`,
    );
    return row.isSettled;
  }

  async runJobsAfter(milliseconds: number): Promise<void> {
    this.processor.clock.advance(milliseconds);
    await this.runJobs();
  }

  /** Requests a refund, and resolves when it is decided or stays pending. Resolves to the response of the service. */
  async refund(paymentReference: string, amount: number): Promise<HttpResponse> {
    const before = await this.countRefunds(paymentReference);
    // The request no longer waits for the outcome when the acquirer has responded.
    const forget = this.beforeNextResponse('refund', () =>
      Promise.resolve(this.processor.clock.advance(REFUND_TIMEOUT_MS)),
    );
    let isAnswered = false;
    const response = this.backOffice
      .refund(paymentReference, { amount }, randomUUID())
      .finally(() => (isAnswered = true));
    await waitUntil(
      'the refund',
      10_000,
      async () => isAnswered || (await this.countRefunds(paymentReference)) > before,
    );
    this.processor.clock.advance(REFUND_TIMEOUT_MS);
    forget();
    return response;
  }

  /** Counts the refunds for whose outcome their request waits, and those that ended. */
  private async countRefunds(paymentReference: string): Promise<number> {
    const [row] = await this.processor.dataSource.query<[{ count: number }]>(
      `SELECT count(*)::int AS count FROM refunds r JOIN payments p USING (payment_id)
        WHERE p.payment_reference = $1 AND (r.queried_at IS NOT NULL OR r.state <> 'pending')`,
      [paymentReference],
    );
    return row.count;
  }

  async readStates(paymentReference: string): Promise<PaymentStates> {
    const [row] = await this.processor.dataSource.query<[PaymentStates]>(
      `SELECT p.state AS payment, y.state AS payable, p.errors -> 0 ->> 'errorReference' AS error,
              (SELECT jsonb_agg(a.state ORDER BY a.started_at, a.attempt_id) FROM attempts a WHERE a.payment_id = p.payment_id) AS attempts
         FROM payments p JOIN payables y USING (payable_id) WHERE p.payment_reference = $1`,
      [paymentReference],
    );
    return { ...row, error: row.error ?? undefined };
  }

  /** The responses of the incidents of a payment. */
  async readIncidents(paymentReference: string): Promise<string[]> {
    const rows = await this.processor.dataSource.query<{ response: string }[]>(
      `SELECT i.response FROM incidents i JOIN attempts a USING (attempt_id) JOIN payments p USING (payment_id)
        WHERE p.payment_reference = $1 ORDER BY 1`,
      [paymentReference],
    );
    return rows.map(({ response }) => response);
  }
}
