import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ManualClock, waitUntil } from '@svc/testing';
import { PollRefunds } from '../src/jobs/poll-refunds.js';
import { RenewInvoices } from '../src/jobs/renew-invoices.js';
import { SyncPayments } from '../src/jobs/sync-payments.js';
import { CallSender } from '../src/platform/call-sender.js';
import { Platform } from '../src/platform/platform.js';
import { parseSettings, type TransformerSettings } from '../src/settings.js';
import { startTransformer, type Transformer } from '../src/transformer.js';
import { type FakeInvoice, FakePlatform } from './fake-platform.js';

export const SITE = 5001;
export const OTHER_SITE = 5002;
/**
 * The timeouts are long enough for the retries of the SDK, so that the result of a test does not depend on its speed.
 */
const RESPONSE_TIMEOUT_MS = { invoices: 8_000, refunds: 8_000 };

export interface Reply {
  readonly status: number;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- each test checks the fields that it needs
  readonly body: any;
  readonly headers: Readonly<Record<string, unknown>>;
}

/**
 * A transformer with a temporary database file and a fake platform. Its timers do not run: tests start each job
 * explicitly.
 */
export class TestTransformer {
  transformer!: Transformer;
  readonly clock = new ManualClock();
  private readonly folder = mkdtempSync(join(tmpdir(), 'svc-pos-'));

  private constructor(
    readonly platform: FakePlatform,
    private readonly changes: Partial<TransformerSettings>,
  ) {}

  static async start(changes: Partial<TransformerSettings> = {}): Promise<TestTransformer> {
    const test = new TestTransformer(await new FakePlatform().start(), changes);
    test.platform.now = () => test.clock.now();
    await test.startWithSameDatabase();
    return test;
  }

  /** Starts a new transformer on the same database file, as after a restart of the computer. */
  async startWithSameDatabase(): Promise<void> {
    this.transformer = await startTransformer(this.settings(), this.clock);
    // In a store the stream of payments does this, which a test must start itself.
    if (this.platform.outage === undefined) await this.transformer.app.get(Platform).learnTime();
  }

  settings(): TransformerSettings {
    const sites = [
      { siteId: SITE, siteReference: 'STORE-1', name: 'Market stall', apiKey: 'key-1' },
      { siteId: OTHER_SITE, siteReference: 'STORE-2', apiKey: 'key-2' },
    ];
    const file = {
      apiUrl: this.platform.url,
      merchantId: 1001,
      sites,
      facadeSiteId: SITE,
      database: 'transformer.sqlite',
      logLevel: 'silent',
    };
    return { ...parseSettings(file, {}, this.folder), responseTimeoutMs: RESPONSE_TIMEOUT_MS, ...this.changes };
  }

  async restart(): Promise<void> {
    await this.transformer.close();
    await this.startWithSameDatabase();
  }

  /** Starts a transformer with an empty database, as on a new computer. */
  async replaceComputer(): Promise<void> {
    await this.transformer.close();
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${this.settings().database}${suffix}`, { force: true });
    await this.startWithSameDatabase();
  }

  async stop(): Promise<void> {
    await this.transformer.close();
    await this.platform.stop();
    rmSync(this.folder, { recursive: true });
  }

  async call(
    method: 'GET' | 'POST',
    url: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    const reply = await this.transformer.app.inject({
      method,
      url,
      headers: { host: 'localhost', ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const isJson = String(reply.headers['content-type']).includes('json');
    return { status: reply.statusCode, headers: reply.headers, body: isJson ? JSON.parse(reply.body) : reply.body };
  }

  sendLine(changes: Record<string, unknown> = {}, till?: string, site = SITE): Promise<Reply> {
    const line = { ...LINE, ...changes };
    return this.call('POST', `/v1/sites/${site}/invoice/line`, line, tillHeader(till));
  }

  sendTotal(amount: number, reference: string, till?: string, site = SITE): Promise<Reply> {
    return this.call('POST', `/v1/sites/${site}/invoice/total`, { amount, reference }, tillHeader(till));
  }

  resetBasket(till?: string, site = SITE): Promise<Reply> {
    return this.call('POST', `/v1/sites/${site}/invoice/reset`, undefined, tillHeader(till));
  }

  sendBasket(
    MerchantOrderId: string,
    TotalToPay: number,
    changes: Record<string, unknown> = {},
    till?: string,
  ): Promise<Reply> {
    const Products = [{ ...PRODUCT, ActualUnitPrice: Math.max(TotalToPay, 0) }];
    const body = { MerchantOrderId, TotalToPay, Products, BasketDiscounts: [], Tenders: [], ...changes };
    return this.call('POST', '/Basket', body, tillHeader(till));
  }

  closeBasket(MerchantOrderId: string, OrderStatus: string, till?: string): Promise<Reply> {
    return this.call('POST', '/BasketClosed', { MerchantOrderId, OrderStatus }, tillHeader(till));
  }

  getPayment(reference: string): Promise<Reply> {
    return this.call('GET', `/GetPayment?MerchantOrderId=${reference}`);
  }

  invoicePayment(reference: string): Promise<Reply> {
    return this.call('GET', `/v1/invoice/${reference}/payment`);
  }

  requestRefund(SvcId: string, RefundAmount: number, RefundReference?: string): Promise<Reply> {
    return this.call('POST', '/SvcRefund', { SvcId, RefundAmount, RefundReference });
  }

  /** The only invoice that a customer can pay now. */
  openInvoice(): FakeInvoice {
    const open = this.platform.openInvoices();
    if (open.length !== 1) throw new Error(`${open.length} invoices are open`);
    return open[0]!;
  }

  /** A customer pays an invoice, and polling finds the payment. Returns the SvcId of the payment. */
  async pay(invoice = this.openInvoice(), changes: Record<string, unknown> = {}): Promise<string> {
    const { paymentReference } = this.platform.pay(invoice, changes);
    await this.pollPayments();
    return paymentReference;
  }

  /** Runs the job that polls payments while the stream is silent. */
  async pollPayments(): Promise<void> {
    await this.transformer.app.get(SyncPayments).poll();
    await this.sendDueCalls();
  }

  async sendDueCalls(): Promise<void> {
    await this.transformer.app.get(CallSender).runStep();
  }

  /** Advances the clock until all postponed calls are due, and sends them. */
  async sendPostponedCalls(milliseconds = 600_000): Promise<void> {
    this.clock.advance(milliseconds);
    await this.sendDueCalls();
  }

  /** Runs the job that polls pending refunds. */
  async pollRefunds(): Promise<void> {
    await this.transformer.app.get(PollRefunds).runStep();
  }

  async renewInvoices(): Promise<void> {
    this.transformer.app.get(RenewInvoices).runStep();
    await this.sendDueCalls();
  }

  async startStreams(): Promise<void> {
    this.transformer.app.get(SyncPayments).start();
    await waitUntil('the streams of both sites', 10_000, async () => this.platform.streamCount >= 2);
  }
}

export const LINE = {
  id: 1,
  itemName: 'Rooibos',
  itemProductCode: 'RB',
  itemPrice: 4_475,
  itemQuantity: 2,
  totalPrice: 8_950,
};

export const PRODUCT = {
  ProductCode: 'RB',
  ProductName: 'Rooibos',
  ExtraInfo: 'organic',
  ActualUnitPrice: 4_475,
  OriginalPrice: 5_000,
  DiscountReason: 'Tuesday',
  DiscountName: 'Pensioner',
  DiscountCode: 'D1',
  Quantity: 1,
  FullPriced: false,
};

function tillHeader(till: string | undefined): Record<string, string> {
  return till === undefined ? {} : { 'x-till': till };
}
