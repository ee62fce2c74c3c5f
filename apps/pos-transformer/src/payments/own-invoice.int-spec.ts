/**
 * Random sales of two tills and a web shop with the same order numbers, during outages, restarts and replacements of
 * the store computer: a basket is paid only by a payment of its own invoice (T5), and no screen shows lines over another
 * total (T3).
 */
import { randomUUID } from 'node:crypto';
import type { MerchantPayment } from '@svc/sdk';
import fc from 'fast-check';
import type { FakeInvoice } from '../../test/fake-platform.js';
import { SITE, TestTransformer } from '../../test/test-transformer.js';
import { SyncPayments } from '../jobs/sync-payments.js';
import { BasketDisplays } from '../pages/basket-displays.js';
import { Store } from '../store/store.js';

const TILLS = ['TILL-1', 'TILL-2'];
const HOUR_MS = 3_600_000;
const runTimeout = setTimeout;

const till = fc.constantFrom(...TILLS);
const reference = fc.constantFrom('1', '2');
const amount = fc.constantFrom(100, 200);
const index = fc.nat(3);
const generatedStep = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('total' as const), till, reference, amount }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('line' as const), till, amount }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('reset' as const), till }) },
  // The web shop has an order with the reference and the amount of the till's newest total.
  { weight: 3, arbitrary: fc.record({ do: fc.constant('web order is paid' as const), till }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('web invoice' as const), till }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('payment begins' as const), index }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('payment succeeds' as const), index }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('payment fails' as const), index }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('payments are reported' as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('outage' as const),
      outage: fc.constantFrom('unreachable' as const, 'lost-responses' as const, undefined, undefined),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(0, 1, 20_000, HOUR_MS) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('replace the computer' as const) }) },
);
type Step = typeof generatedStep extends fc.Arbitrary<infer Value> ? Value : never;

/** A store with two tills, whose baskets have a first line with a unique name. */
class RandomStore {
  private nextBasket = 1;
  private reported = 0;
  /** The prices of the lines of each till's basket. The first line has the name of the basket. */
  private readonly lines = new Map<string, number[]>();
  private readonly newestTotals = new Map<string, { reference: string; amount: number }>();

  constructor(private readonly pos: TestTransformer) {}

  async run(step: Step): Promise<void> {
    const { platform } = this.pos;
    switch (step.do) {
      case 'total': {
        if (!this.lines.has(step.till)) await this.sendLine(step.till, step.amount, `basket ${this.nextBasket++}`);
        const sum = this.lines.get(step.till)?.reduce((total, price) => total + price, 0) ?? 0;
        this.newestTotals.set(step.till, { reference: step.reference, amount: sum });
        await this.pos.sendTotal(sum, step.reference, step.till);
        return;
      }
      case 'line':
        return this.sendLine(
          step.till,
          step.amount,
          this.lines.has(step.till) ? 'more' : `basket ${this.nextBasket++}`,
        );
      case 'reset':
        await this.pos.resetBasket(step.till);
        this.lines.delete(step.till);
        return;
      case 'web order is paid':
        platform.pay(this.webOrder(step.till));
        return;
      case 'web invoice':
        platform.createInvoice(SITE, this.webOrder(step.till).body);
        return;
      case 'payment begins': {
        const open = platform.invoices.filter(
          ({ state, expiresAt }) => state === 'open' && expiresAt > this.pos.clock.now(),
        );
        if (open.length > 0) open[step.index % open.length]!.state = 'reserved';
        return;
      }
      case 'payment succeeds':
      case 'payment fails': {
        const paying = platform.invoices.filter(({ state }) => state === 'reserved');
        if (paying.length > 0)
          platform.pay(paying[step.index % paying.length]!, { status: step.do === 'payment fails' ? 2 : 1 });
        return;
      }
      case 'payments are reported':
        return this.reportPayments();
      case 'outage':
        platform.outage = step.outage;
        return;
      case 'wait':
        return this.wait(step.ms);
      case 'restart':
        return this.pos.restart();
      case 'replace the computer':
        await this.pos.replaceComputer();
        this.lines.clear();
    }
  }

  /** Ends the outage and all payments, and waits until nothing changes any more. */
  async settle(): Promise<void> {
    this.pos.platform.outage = undefined;
    for (const invoice of this.pos.platform.invoices) if (invoice.state === 'reserved') this.pos.platform.pay(invoice);
    for (let times = 0; times < 8; times++) {
      this.reportPayments();
      await this.wait(20_000);
    }
  }

  /** The names of the baskets of this store, and of the baskets that are paid by the invoices. */
  listPaid(): { name: string; paidInvoice: string }[] {
    return this.pos.transformer.app.get(Store).list(
      `SELECT json_extract(lines.line, '$.name') AS name, payments.invoice_reference AS paidInvoice
         FROM payments JOIN lines ON lines.basket_id = payments.basket_id AND lines.position = 1`,
    );
  }

  listBaskets(): { name: string; state: string }[] {
    return this.pos.transformer.app.get(Store).list(
      `SELECT json_extract(lines.line, '$.name') AS name, baskets.state FROM baskets
         JOIN lines ON lines.basket_id = baskets.basket_id AND lines.position = 1`,
    );
  }

  private async sendLine(tillName: string, price: number, itemName: string): Promise<void> {
    const lines = this.lines.get(tillName) ?? [];
    const line = { id: lines.length + 1, itemName, itemPrice: price, itemQuantity: 1, totalPrice: price };
    const { body } = await this.pos.sendLine(line, tillName);
    if (body.Result !== 'STOP') this.lines.set(tillName, [...lines, price]);
  }

  private webOrder(tillName: string): FakeInvoice {
    const { reference: externalReference, amount: owed } = this.newestTotals.get(tillName) ?? {
      reference: '1',
      amount: 100,
    };
    return {
      reference: randomUUID(),
      siteId: SITE,
      body: { externalReference, amount: owed, siteReference: tillName, origin: 'shop' },
      code: '',
      createdAt: this.pos.clock.now(),
      expiresAt: this.pos.clock.later(HOUR_MS),
      keys: [],
      state: 'reserved',
    };
  }

  /** Reports the payments in order, like the stream. */
  private reportPayments(): void {
    const { payments, outage } = this.pos.platform;
    if (outage !== undefined) return;
    for (; this.reported < payments.length; this.reported++) {
      const { status, ...payment } = payments[this.reported]!;
      this.pos.transformer.app.get(SyncPayments).applyNotification(SITE, {
        id: `n-${this.reported}`,
        type: 'payment',
        payment: { ...payment, status: status === 1 ? 'Success' : 'Failed' } as MerchantPayment,
      });
    }
  }

  private async wait(ms: number): Promise<void> {
    this.pos.clock.advance(ms);
    await this.pos.renewInvoices();
    await this.pos.pollPayments();
  }
}

const nameOf = ({ body }: FakeInvoice): unknown => (body['lineItems'] as { name: string }[] | undefined)?.[0]?.name;

beforeEach(() => {
  // The SDK waits between its attempts.
  jest
    .spyOn(globalThis, 'setTimeout')
    .mockImplementation((callback: () => void, ms = 0, ...args: []) =>
      runTimeout(callback, ms < 3_000 ? 0 : ms, ...args),
    );
});
afterEach(() => void jest.restoreAllMocks());

it('a basket is paid only by a payment of its own invoice, and by each of them; no screen shows another total', async () => {
  /** Number of runs with each case. It proves that the random steps test all cases. */
  const runs = { paid: 0, paidWebOrder: 0, repeatedRequest: 0, closedUnpaid: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(generatedStep, { minLength: 10, maxLength: 40, size: 'max' }), async (steps) => {
      const pos = await TestTransformer.start();
      try {
        const { platform } = pos;
        const store = new RandomStore(pos);
        const check = (): void => {
          for (const { name, paidInvoice } of store.listPaid()) {
            const invoice = platform.invoices.find(({ reference: id }) => id === paidInvoice);
            expect(invoice && nameOf(invoice)).toBe(name);
          }
          for (const name of TILLS) {
            const view = pos.transformer.app.get(BasketDisplays).view({ siteId: SITE, till: name });
            const sum = view.lines.reduce((total, { totalCents }) => total + totalCents, 0);
            expect([null, sum]).toContain(view.amountCents);
            expect(view.codePath === null || view.amountCents === sum).toBe(true);
          }
        };
        for (const step of steps) {
          await store.run(step);
          check();
        }
        await store.settle();
        check();

        const paid = new Set(store.listPaid().map(({ paidInvoice }) => paidInvoice));
        const baskets = new Map(store.listBaskets().map(({ name, state }) => [name, state]));
        const ownInvoices = platform.invoices.filter((invoice) => baskets.has(String(nameOf(invoice))));
        const paidInvoices = ownInvoices.filter(({ state }) => state === 'paid');
        expect(paidInvoices.filter((invoice) => !paid.has(invoice.reference))).toEqual([]);
        // An expired invoice cannot be paid, so it need not be closed.
        const openInvoices = ownInvoices.filter((invoice) => invoice.state === 'open' && !platform.isExpired(invoice));
        expect(openInvoices.filter((invoice) => baskets.get(String(nameOf(invoice))) !== 'open')).toEqual([]);
        expect(new Set(openInvoices.map(nameOf)).size).toBe(openInvoices.length);

        const posts = platform.requests.filter(({ method, path }) => method === 'POST' && path.endsWith('/invoices'));
        if (paid.size > 0) runs.paid++;
        if (
          platform.payments.some(
            (payment) => !platform.invoices.some((i) => i.reference === payment['invoiceReference']),
          )
        )
          runs.paidWebOrder++;
        if (posts.length > platform.invoices.length) runs.repeatedRequest++;
        if (ownInvoices.some(({ state }) => state === 'closed')) runs.closedUnpaid++;
      } finally {
        await pos.stop();
      }
    }),
    { numRuns: 30 },
  );
  for (const [name, count] of Object.entries(runs)) expect([name, count > 0]).toEqual([name, true]);
}, 300_000);
