/**
 * A trading day of a store: tills with baskets of every kind, customers who pay with a partner's app, an outage of the
 * line to the platform and power cuts. Each test run has a small day; a whole day is measured on request.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { PartnerClient, SvcApiError } from '@svc/sdk';
import { findFreePort, waitUntil } from '@svc/testing';
import type pg from 'pg';
import { CALL_TIMEOUT_MS } from '../consistency/refund-records.js';
import { type MerchantSite, type Platform, ROOT } from '../platform/platform.js';
import { NetworkLine, raisePriority, StoreComputer, type TillAnswer } from './store-computer.js';

export interface DaySize {
  readonly tills: number;
  readonly baskets: number;
  /** Baskets that begin during the outage. */
  readonly outageBaskets: number;
  /** Number of power cuts. One of the power cuts is during the outage. */
  readonly kills: 3;
  /**
   * True to measure times: then the store's programs get a higher priority than the platform, like on their own
   * computer.
   */
  readonly isMeasured: boolean;
}

/** The result of a basket, as the till knows it. Amounts in cents. */
export interface Sale {
  readonly reference: string;
  readonly till: string;
  readonly kind: Kind;
  /** Cents to pay for the newest version of the basket. */
  readonly amountDue: number;
  /**
   * `code`: paid with the phone. `no-code`: paid in cash, voided, or nothing to pay. `open`: its code is still unpaid.
   */
  state: 'code' | 'no-code' | 'open';
  /** Cents that the till refunded. */
  refunded: number;
}

/** Durations in milliseconds, a value for each event. */
export interface DayTimes {
  /** The calls of `total` and `Basket` that create a code. */
  readonly code: number[];
  /** Every call of a till that changes data, including calls during power cuts and the outage. */
  readonly call: number[];
  /** From the payment at the platform until a request of the till returns it, without payments during the outage. */
  readonly paymentAtTill: number[];
}

/** Kinds of the baskets of a till that sends single lines, in turn. `weighed`: its quantity is a fraction. */
const LINES = [
  'plain',
  'edited',
  'plain',
  'cash',
  'declined',
  'voided',
  'returned',
  'plain',
  'edited',
  'weighed',
] as const;
/** Kinds of the baskets of a till that sends whole baskets, in turn. `voided-after`: voided after its payment. */
const ORDERS = [
  'plain',
  'saved',
  'refunded',
  'plain',
  'voided',
  'edited',
  'returned',
  'plain',
  'cash',
  'voided-after',
] as const;
export type Kind = (typeof LINES)[number] | (typeof ORDERS)[number];

const CARD = '4242424242424242';
const DECLINED_CARD = '4000000000000002';
/** If the till does not get the payment within this time, it serves its next customer. */
const MAX_WAIT_MS = 3_000;
/** The power fails after each of these shares of the baskets. The line fails after OUTAGE_START_SHARE. */
const POWER_CUT_SHARES = [0.2, 0.43, 0.85];
const OUTAGE_START_SHARE = 0.4;

export class TradingDay {
  readonly sales: Sale[] = [];
  readonly times: DayTimes = { code: [], call: [], paymentAtTill: [] };
  calls = 0;
  seconds = 0;
  /** Milliseconds from the repair of the line until no call waits any more. */
  drainedMs = 0;
  /** Customers who came back to pay after the outage. */
  paidLater = 0;
  private begunBaskets = 0;
  private readonly outageStart: number;
  private faults: Promise<unknown> = Promise.resolve();
  private lastQuery: Promise<unknown> = Promise.resolve();
  private readonly startedAt = Date.now();
  private readonly partner: PartnerClient;

  private constructor(
    readonly size: DaySize,
    readonly platform: Platform,
    readonly site: MerchantSite,
    readonly line: NetworkLine,
    readonly computer: StoreComputer,
    private readonly database: pg.Client,
    private readonly poller: ChildProcess,
  ) {
    this.outageStart = Math.floor(OUTAGE_START_SHARE * size.baskets);
    const { apiUrl, partner } = platform.demo;
    this.partner = new PartnerClient({ apiUrl, ...partner, timeoutMs: CALL_TIMEOUT_MS });
  }

  static async open(platform: Platform, site: MerchantSite, size: DaySize): Promise<TradingDay> {
    const line = new NetworkLine(Number(new URL(platform.demo.apiUrl).port));
    const port = await findFreePort();
    const { siteId, siteReference, apiKey } = site;
    const computer = new StoreComputer(
      {
        apiUrl: await line.open(),
        merchantId: site.merchant.merchantId,
        sites: [{ siteId, siteReference, apiKey }],
        port,
        database: 'transformer.sqlite',
      },
      size.isMeasured,
    );
    await computer.start();
    const poller = fork(join(ROOT, 'bench/tills/poll.ts'), [`http://127.0.0.1:${port}`], { execArgv: [] });
    if (size.isMeasured) raisePriority(poller.pid!);
    return new TradingDay(size, platform, site, line, computer, await platform.sqlClient(), poller);
  }

  async close(): Promise<void> {
    if (this.poller.connected) this.poller.disconnect();
    this.line.close();
    await this.database.end();
  }

  /** Serves all baskets. Afterwards no call waits in the transformer, and every open code is paid. */
  async run(): Promise<void> {
    const startedAt = performance.now();
    const { tills, baskets } = this.size;
    const ended = await Promise.allSettled(
      Array.from({ length: tills }, async (_, index) => {
        const till = new Till(this, `TILL-${index + 1}`, index < tills / 2 ? 'lines' : 'orders');
        const kinds = index < tills / 2 ? LINES : ORDERS;
        const count = Math.floor(baskets / tills) + (index < baskets % tills ? 1 : 0);
        for (let number = 0; number < count; number++) {
          this.begin();
          // Each till begins with a different kind.
          const kind = kinds[(number + 3 * index) % kinds.length]!;
          const reference = `${this.startedAt}${index}${String(number).padStart(6, '0')}`;
          this.sales.push(await till.serve(reference, kind));
        }
      }),
    );
    for (const till of ended) if (till.status === 'rejected') throw till.reason;
    await this.faults;
    this.seconds = (performance.now() - startedAt) / 1_000;
    await this.waitUntilSent();
    for (const sale of this.sales.filter(({ state }) => state === 'open')) await this.payLater(sale);
  }

  /** Stops the requests that tills send each second, and returns the milliseconds of each request. */
  async stopPolling(): Promise<Record<'GetPayment' | 'invoice payment' | 'health', number[]>> {
    this.poller.send({ end: true });
    const [times] = (await once(this.poller, 'message')) as [
      Record<'GetPayment' | 'invoice payment' | 'health', number[]>,
    ];
    return times;
  }

  async waitUntilSent(): Promise<void> {
    const waiting = async (): Promise<unknown> =>
      (await this.computer.call('GET', `/till/${this.site.siteId}/state`)).body['waitingCalls'];
    await waitUntil('all calls to be sent', 120_000, async () => (await waiting()) === 0);
  }

  async call(path: string, body: object, till: string): Promise<TillAnswer['body']> {
    const startedAt = performance.now();
    const { status, body: answer } = await this.computer.call('POST', path, body, till);
    const took = performance.now() - startedAt;
    if (status !== 200) throw new Error(`${path} was answered with ${status}: ${JSON.stringify(answer)}`);
    this.calls++;
    this.times.call.push(took);
    if ((path === '/Basket' || path.endsWith('/total')) && answer.Result === 'OK') this.times.code.push(took);
    return answer;
  }

  /** A customer pays; returns true if the issuer approves. */
  async pay(code: string, amount: number, cardNumber = CARD): Promise<boolean> {
    const card = { cardNumber, cvv: '123', holderName: 'T Nkosi', expiryMonth: 12, expiryYear: 2035 };
    const { status } = await this.partner.service.pay({ code, amount, customer: { id: 'customer-1' }, card });
    return status === 'success';
  }

  /** Waits until the till gets the payment; undefined if it serves the next customer first. */
  async waitForPayment(path: string): Promise<TillAnswer['body'] | undefined> {
    const [paidAt, isDown] = [performance.now(), this.line.isDown];
    const until = paidAt + MAX_WAIT_MS;
    const answer = await waitUntil('the till to get the payment', 2 * MAX_WAIT_MS, async () => {
      const { status, body } = await this.computer.call('GET', path);
      return performance.now() > until ? 'unknown' : status === 200 && body['PaidAmount'] !== 0 && body;
    });
    if (answer === 'unknown') return undefined;
    if (!isDown && !this.line.isDown) this.times.paymentAtTill.push(performance.now() - paidAt);
    return answer;
  }

  /** The code on the customer display, from the platform's database; undefined if the basket has none. */
  async findShownCode(reference: string): Promise<{ code: string; amount: number } | undefined> {
    const query = (): Promise<pg.QueryResult<{ code: string; amount: string }>> =>
      this.database.query(
        `SELECT code, amount FROM code_decoder.invoices
         WHERE site_id = $1 AND mode = 'test' AND external_reference = $2 AND payable_state = 'open'`,
        [this.site.siteId, reference],
      );
    // A connection runs one query at a time.
    const answer = this.lastQuery.then(query);
    this.lastQuery = answer.catch(() => undefined);
    const { rows } = await answer;
    return rows[0] && { code: rows[0].code, amount: Number(rows[0].amount) };
  }

  /** Shows the order on a till's screen. From then on, the till queries the order's payment each second. */
  watch(reference: string): void {
    this.poller.send({ order: reference });
  }

  private async payLater(sale: Sale): Promise<void> {
    const shown = await waitUntil(`the code of ${sale.reference}`, 20_000, () => this.findShownCode(sale.reference));
    if (shown.amount !== sale.amountDue)
      throw new Error(`${sale.reference} has ${sale.amountDue} due, but its code has ${shown.amount}`);
    if (!(await this.pay(shown.code, shown.amount))) throw new Error(`${sale.reference} was not paid`);
    sale.state = 'code';
    this.paidLater++;
  }

  private begin(): void {
    const { baskets, outageBaskets } = this.size;
    this.begunBaskets++;
    if (POWER_CUT_SHARES.some((share) => this.begunBaskets === Math.ceil(share * baskets)))
      this.faults = this.faults.then(() => this.computer.kill());
    if (this.begunBaskets === this.outageStart) this.line.breakDown();
    if (this.begunBaskets === this.outageStart + outageBaskets) this.faults = Promise.all([this.faults, this.repair()]);
  }

  private async repair(): Promise<void> {
    this.line.repair();
    const repairedAt = performance.now();
    await this.waitUntilSent();
    this.drainedMs = performance.now() - repairedAt;
  }
}

/** One till with its cashier, who serves one customer after the other. */
class Till {
  private readonly random: () => number;

  constructor(
    private readonly day: TradingDay,
    private readonly name: string,
    private readonly dialect: 'lines' | 'orders',
  ) {
    this.random = seededRandom(Number(name.slice(5)));
  }

  async serve(reference: string, kind: Kind): Promise<Sale> {
    this.day.watch(reference);
    const sale = await (this.dialect === 'lines' ? this.sellLines(reference, kind) : this.sellOrder(reference, kind));
    return { reference, till: this.name, kind, refunded: 0, ...sale };
  }

  private async sellLines(reference: string, kind: Kind): Promise<Pick<Sale, 'amountDue' | 'state'>> {
    const price = this.randomPrice();
    const quantity = kind === 'returned' ? -1 : kind === 'weighed' ? 0.543 : 2;
    let amountDue = await this.addLine(1, price, quantity);
    if (kind === 'edited') amountDue += await this.addLine(2, 1_250, 1);
    let { Code } = await this.callInvoice('total', { amount: amountDue, reference });
    if (kind === 'edited') {
      // The customer takes one piece less of the first item, and returns the second item.
      await this.addLine(2, 1_250, 0);
      amountDue = await this.addLine(1, price, 1);
      ({ Code } = await this.callInvoice('total', { amount: amountDue, reference }));
    }
    let state: Sale['state'] = 'no-code';
    if (typeof Code === 'string' && !['cash', 'voided', 'returned'].includes(kind)) {
      if (kind === 'declined') await this.day.pay(Code, amountDue, DECLINED_CARD);
      if (!(await this.day.pay(Code, amountDue))) throw new Error(`${reference} was not paid`);
      state = 'code';
      await this.day.waitForPayment(`/v1/invoice/${reference}/payment`);
    }
    await this.callInvoice('reset', {});
    return { amountDue, state };
  }

  private async sellOrder(reference: string, kind: Kind): Promise<Pick<Sale, 'amountDue' | 'state' | 'refunded'>> {
    const price = this.randomPrice();
    const amountDue = kind === 'returned' ? -price : kind === 'edited' ? 2 * price : price;
    await this.sendBasket(reference, kind === 'returned' ? -price : price, kind === 'returned' ? -1 : 1);
    if (kind === 'edited') await this.sendBasket(reference, amountDue, 2);
    if (kind === 'saved') {
      await this.closeBasket(reference, 'Saved');
      await this.sendBasket(reference, amountDue, 1);
    }
    if (kind === 'cash' || kind === 'voided' || kind === 'returned') {
      await this.closeBasket(reference, kind === 'voided' ? 'Void' : 'Complete');
      return { amountDue, state: 'no-code', refunded: 0 };
    }
    const shown = await this.day.findShownCode(reference);
    // While the line is down, the customer leaves, and comes back when there is a code with the amount.
    if (shown?.amount !== amountDue) return { amountDue, state: 'open', refunded: 0 };
    const outcome = await this.day.pay(shown.code, amountDue).catch(unlessClosed);
    if (outcome === 'closed') return { amountDue, state: 'open', refunded: 0 };
    if (!outcome) throw new Error(`${reference} was not paid`);
    const payment = await this.day.waitForPayment(`/GetPayment?MerchantOrderId=${reference}`);
    const isVoided = kind === 'voided-after' && payment !== undefined;
    await this.closeBasket(reference, isVoided ? 'Void' : 'Complete');
    const refund = isVoided ? amountDue : kind === 'refunded' && payment !== undefined ? Math.ceil(amountDue / 3) : 0;
    return { amountDue, state: 'code', refunded: refund > 0 ? await this.refund(payment!, refund, reference) : 0 };
  }

  /** Calls twice, because cashiers press twice. Returns the cents that are, or will be, refunded. */
  private async refund(payment: TillAnswer['body'], amount: number, reference: string): Promise<number> {
    const body = { SvcId: payment['SvcId'], RefundAmount: amount, RefundReference: `R${reference}` };
    const results = [
      (await this.day.call('/SvcRefund', body, this.name)).Result,
      (await this.day.call('/SvcRefund', body, this.name)).Result,
    ];
    return results.includes('STOP') ? 0 : amount;
  }

  private async addLine(id: number, price: number, quantity: number): Promise<number> {
    const totalPrice = Math.sign(quantity) * Math.round(price * Math.abs(quantity));
    const item = {
      id,
      itemName: 'Rooibos',
      itemProductCode: 'RB',
      itemPrice: price,
      itemQuantity: quantity,
      totalPrice,
    };
    await this.callInvoice('line', item);
    return totalPrice;
  }

  private callInvoice(action: 'line' | 'total' | 'reset', body: object): Promise<TillAnswer['body']> {
    return this.day.call(`/v1/sites/${this.day.site.siteId}/invoice/${action}`, body, this.name);
  }

  private async sendBasket(reference: string, total: number, quantity: number): Promise<void> {
    const Products = [
      { ProductCode: 'L', ProductName: 'Leash', ActualUnitPrice: Math.abs(total / quantity), Quantity: quantity },
    ];
    await this.day.call('/Basket', { MerchantOrderId: reference, TotalToPay: total, Products }, this.name);
  }

  private async closeBasket(reference: string, status: 'Complete' | 'Void' | 'Saved'): Promise<void> {
    await this.day.call('/BasketClosed', { MerchantOrderId: reference, OrderStatus: status }, this.name);
  }

  private randomPrice(): number {
    return 500 + Math.floor(this.random() * 20_000);
  }
}

/**
 * A call that waited in the transformer may close a code after the customer has read it. Then the customer leaves, as in
 * an outage, and later pays the code that replaced it.
 */
function unlessClosed(error: unknown): 'closed' {
  if (error instanceof SvcApiError && error.code === 'payable.closed') return 'closed';
  throw error;
}

/** Returns the random numbers of Mulberry32. They are the same in each run, so each day has the same baskets. */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
