import { waitUntil } from '@svc/testing';
import { SITE, TestTransformer } from '../../test/test-transformer.js';
import { TotalRepository } from '../baskets/total.repository.js';
import { Store } from '../store/store.js';
import { AlertRepository } from './alert.repository.js';
import { OutgoingCallRepository } from './outgoing-call.repository.js';

let pos: TestTransformer;
beforeEach(async () => (pos = await TestTransformer.start()));
afterEach(() => pos.stop());

const QUEUED_ANSWER = { Result: 'WARN', Message: expect.stringContaining('cannot be reached') };
const openInvoiceAmounts = (): unknown[] => pos.platform.openInvoices().map(({ body }) => body['amount']);
const countWaitingCalls = (): number => pos.transformer.app.get(OutgoingCallRepository).countWaiting(SITE);
const alertMessages = (): string[] =>
  pos.transformer.app
    .get(AlertRepository)
    .list(SITE, '')
    .map(({ message }) => message);

describe('T8: while the platform cannot be reached', () => {
  beforeEach(() => (pos.platform.outage = 'unreachable'));

  it('the calls for total and Basket requests are stored, and sent when the platform is reachable again', async () => {
    await pos.sendLine();
    expect((await pos.sendTotal(8_950, '17')).body).toStrictEqual(QUEUED_ANSWER);
    expect((await pos.sendBasket('18', 200)).body).toStrictEqual(QUEUED_ANSWER);
    pos.platform.outage = undefined;
    await pos.sendPostponedCalls();
    expect(openInvoiceAmounts()).toEqual([8_950, 200]);
    expect((await pos.sendTotal(8_950, '17')).body).toMatchObject({ Result: 'OK', Code: expect.any(String) });
    expect(pos.platform.invoices).toHaveLength(2);
  });

  it('tills get a response immediately during the backoff, because nothing is sent', async () => {
    await pos.sendBasket('17', 100);
    // The first call was attempted. The second call is not attempted, so its till does not wait for a response.
    pos.platform.outage = 'silent';
    expect((await pos.sendBasket('18', 100)).body).toStrictEqual(QUEUED_ANSWER);
    expect(pos.platform.requests).toEqual([]);
  });

  it('the next call is sent exactly when the backoff has ended', async () => {
    // Without jitter, the first backoff is 500 ms.
    const random = jest.spyOn(Math, 'random').mockReturnValue(0.5);
    await pos.sendBasket('17', 100);
    random.mockRestore();
    pos.platform.outage = undefined;
    pos.clock.advance(499);
    await pos.sendDueCalls();
    expect(openInvoiceAmounts()).toEqual([]);
    pos.clock.advance(1);
    await pos.sendDueCalls();
    expect(openInvoiceAmounts()).toEqual([100]);
  });

  it('a saved basket that its till sends again gets a new invoice after its first invoice was closed', async () => {
    pos.platform.outage = undefined;
    await pos.sendBasket('17', 100);
    pos.platform.outage = 'unreachable';
    await pos.closeBasket('17', 'Saved');
    await pos.sendBasket('17', 100);
    pos.platform.outage = undefined;
    await pos.sendPostponedCalls();
    expect(openInvoiceAmounts()).toEqual([100]);
  });

  it('stored calls survive a restart', async () => {
    await pos.sendLine();
    await pos.sendTotal(8_950, '17');
    await pos.restart();
    pos.platform.outage = undefined;
    await pos.sendDueCalls();
    expect(openInvoiceAmounts()).toEqual([8_950]);
    await pos.pay();
    expect((await pos.getPayment('17')).body.StatusId).toBe('2');
  });

  it('only the invoice of the last version of a basket is created, unless an earlier version may have reached the platform', async () => {
    for (const amount of [100, 200, 300]) await pos.sendBasket('17', amount);
    for (const amount of [50, 60]) await pos.sendBasket('18', amount);
    pos.platform.outage = undefined;
    await pos.sendPostponedCalls();
    expect(pos.platform.invoices.map(({ body }) => body['amount'])).toEqual([100, 300, 60]);
    expect(openInvoiceAmounts()).toEqual([300, 60]);
  });

  it('no invoice is created for a basket that was closed before its call was attempted', async () => {
    // The first call is attempted, so it may have reached the platform. The second call waits during the backoff.
    await pos.sendBasket('17', 100);
    await pos.sendBasket('18', 200);
    expect((await pos.closeBasket('18', 'Complete')).body).toEqual({ Result: 'OK', Message: '' });
    pos.platform.outage = undefined;
    await pos.sendPostponedCalls();
    expect(openInvoiceAmounts()).toEqual([100]);
    expect(pos.platform.requests.map(({ method }) => method)).toEqual(['POST']);
  });

  it('an invoice that may have been created is closed at the platform when its basket is closed', async () => {
    pos.platform.outage = 'lost-responses';
    await pos.sendBasket('17', 100);
    expect(openInvoiceAmounts()).toEqual([100]);
    expect((await pos.closeBasket('17', 'Void')).body).toEqual(QUEUED_ANSWER);
    pos.platform.outage = undefined;
    await pos.sendPostponedCalls();
    expect(openInvoiceAmounts()).toEqual([]);
    expect(countWaitingCalls()).toBe(0);
  });

  it.each(['Complete', 'Void', 'Saved'])(
    'the status %s closes the invoice of an earlier version of the basket, if this invoice may have been created',
    async (status) => {
      pos.platform.outage = 'lost-responses';
      await pos.sendBasket('17', 100);
      pos.platform.outage = 'unreachable';
      await pos.sendBasket('17', 200);
      await pos.closeBasket('17', status);
      pos.platform.outage = undefined;
      await pos.sendPostponedCalls();
      expect(openInvoiceAmounts()).toEqual([]);
      expect(pos.platform.invoices).toHaveLength(1);
    },
  );

  it('the invoice of an earlier version of the basket is closed by a total of 0', async () => {
    pos.platform.outage = undefined;
    await pos.sendLine();
    await pos.sendTotal(8_950, '17');
    pos.platform.outage = 'unreachable';
    // This call is attempted. The next call waits during the backoff.
    await pos.sendBasket('18', 100);
    await pos.sendTotal(4_475, '17');
    expect((await pos.sendTotal(0, '17')).body.Message).toContain('cannot be reached');
    pos.platform.outage = undefined;
    await pos.sendPostponedCalls();
    expect(openInvoiceAmounts()).toEqual([100]);
  });

  it('if an order is closed and its number is used again, the calls are sent in order', async () => {
    pos.platform.outage = undefined;
    await pos.sendBasket('17', 100);
    pos.platform.outage = 'unreachable';
    expect((await pos.closeBasket('17', 'Complete')).body).toEqual(QUEUED_ANSWER);
    await pos.sendBasket('17', 200);
    pos.platform.outage = undefined;
    await pos.sendPostponedCalls();
    expect(openInvoiceAmounts()).toEqual([200]);
  });

  it('a retry after a lost response creates no second invoice', async () => {
    pos.platform.outage = 'lost-responses';
    await pos.sendBasket('17', 100);
    pos.platform.outage = undefined;
    await pos.sendPostponedCalls();
    expect(pos.platform.invoices).toHaveLength(1);
    await pos.pay();
    expect((await pos.getPayment('17')).body.PaidAmount).toBe(100);
  });
});

it('T8: a platform that does not respond delays a till only up to the response timeout', async () => {
  await pos.stop();
  pos = await TestTransformer.start({ responseTimeoutMs: { invoices: 100, refunds: 100 } });
  pos.platform.outage = 'silent';
  const started = performance.now();
  expect((await pos.sendBasket('17', 100)).body).toStrictEqual(QUEUED_ANSWER);
  expect(performance.now() - started).toBeLessThan(2_000);
});

it('T8: an expired invoice of an open basket is renewed, unless the basket is abandoned', async () => {
  await pos.sendLine();
  await pos.sendTotal(8_950, '17');
  const first = pos.openInvoice();
  await pos.renewInvoices();
  expect(pos.platform.invoices).toHaveLength(1);
  pos.clock.advance(3_600_000);
  await pos.renewInvoices();
  expect(pos.openInvoice()).not.toBe(first);
  const [key] = pos.openInvoice().keys;
  expect(pos.openInvoice().body).toEqual({
    ...first.body,
    createdUTCDate: '2026-03-01T11:00:00.000Z',
    originReference: key,
  });
  expect(first.keys).not.toContain(key);
  await pos.pay();
  expect((await pos.getPayment('17')).body.PaidAmount).toBe(8_950);

  await pos.sendTotal(100, '18', 'TILL-2');
  pos.clock.advance(13 * 3_600_000);
  await pos.renewInvoices();
  expect(pos.platform.invoices).toHaveLength(3);
});

it.each([
  ['ahead', 2],
  ['behind', -2],
])(
  'T8: an invoice is renewed only after its expiry, even if the clock of the store is two hours %s',
  async (_, hours) => {
    pos.platform.now = () => pos.clock.later(-hours * 3_600_000);
    await pos.sendTotal(100, '17');
    // Invoices of the fake platform are valid for one hour.
    pos.clock.advance(3_599_000);
    await pos.renewInvoices();
    expect(pos.platform.invoices).toHaveLength(1);
    pos.clock.advance(2_000);
    await pos.renewInvoices();
    expect(pos.platform.invoices).toHaveLength(2);
    expect(pos.openInvoice()).toBe(pos.platform.invoices[1]);
  },
);

it('T8: an invoice that is at most five minutes old is not renewed, even if it seems to have expired', async () => {
  pos.platform.invoiceLifetimeMs = -1_000;
  await pos.sendTotal(100, '17');
  pos.clock.advance(300_000);
  await pos.renewInvoices();
  expect(pos.platform.invoices).toHaveLength(1);
  pos.clock.advance(1);
  await pos.renewInvoices();
  expect(pos.platform.invoices).toHaveLength(2);
});

it('a call that closes an invoice is retried immediately after a 503, so no other till has to wait', async () => {
  await pos.sendBasket('17', 100);
  pos.platform.nextErrors.push({ method: 'DELETE', status: 503 });
  expect((await pos.closeBasket('17', 'Complete')).body.Result).toBe('OK');
  expect((await pos.sendBasket('18', 200)).body.Result).toBe('OK');
  expect(openInvoiceAmounts()).toEqual([200]);
});

it.each([200, 404])(
  'if a proxy responds with %d, the invoice does not count as closed, and the call is retried',
  async (status) => {
    await pos.sendBasket('17', 100);
    pos.platform.nextErrors.push({ method: 'DELETE', status, body: { page: 'Sign in to the network' } });
    expect((await pos.closeBasket('17', 'Complete')).body).toStrictEqual(QUEUED_ANSWER);
    await pos.sendPostponedCalls();
    expect(openInvoiceAmounts()).toEqual([]);
  },
);

it('an invoice whose response arrives after the refusal of a newer total is still closed with its basket', async () => {
  const release = pos.platform.holdResponse();
  const first = pos.sendBasket('17', 100);
  await waitUntil('the first invoice', 5_000, async () => openInvoiceAmounts().length === 1);
  pos.platform.nextErrors.push({ method: 'POST', status: 400, body: { code: 'request.invalid' } });
  const second = pos.sendBasket('17', 200);
  const countCalls = (): unknown => pos.transformer.app.get(Store).find('SELECT count(*) AS calls FROM outgoing_calls');
  await waitUntil('the second call', 5_000, async () => (countCalls() as { calls: number }).calls === 2);
  release();
  expect([(await first).body.Result, (await second).body.Result]).toEqual(['OK', 'STOP']);
  await pos.closeBasket('17', 'Complete');
  expect(openInvoiceAmounts()).toEqual([]);
});

it('an invoice whose response arrives after its total was replaced is stored, but does not make the total open', async () => {
  const release = pos.platform.holdResponse();
  const request = pos.sendBasket('17', 100);
  await waitUntil('the invoice', 5_000, async () => openInvoiceAmounts().length === 1);
  const [store, totals] = [pos.transformer.app.get(Store), pos.transformer.app.get(TotalRepository)];
  const { totalId } = store.find<{ totalId: number }>('SELECT total_id AS totalId FROM totals')!;
  store.transaction((tx) => totals.setState(tx, totalId, 'replaced'));
  release();
  await request;
  const invoiceReference = pos.openInvoice().reference;
  expect(totals.get(totalId)).toMatchObject({ state: 'replaced', invoiceReference });
});

describe('a call that the platform refuses', () => {
  it('ends with an alert if the reason is permanent, and blocks no other basket', async () => {
    pos.platform.outage = 'unreachable';
    await pos.sendBasket('17', 100);
    await pos.sendBasket('18', 200);
    pos.platform.outage = undefined;
    pos.platform.nextErrors.push({ method: 'POST', status: 400, body: { errors: [{ message: 'amount is odd' }] } });
    await pos.sendPostponedCalls();
    expect(openInvoiceAmounts()).toEqual([200]);
    expect(alertMessages()).toEqual(['Order 17: No code was made for R 1.00. The platform refused it: amount is odd']);
    expect(countWaitingCalls()).toBe(0);
  });

  it('is retried after the other calls if the reason is temporary', async () => {
    pos.platform.nextErrors.push({ method: 'POST', status: 500 });
    expect((await pos.sendBasket('17', 100)).body).toStrictEqual(QUEUED_ANSWER);
    expect((await pos.sendBasket('18', 200)).body.Result).toBe('OK');
    expect(openInvoiceAmounts()).toEqual([200]);
    await pos.sendPostponedCalls();
    expect(openInvoiceAmounts()).toEqual([200, 100]);
  });

  it('is retried until the payment ends if a customer is paying', async () => {
    await pos.sendBasket('17', 100);
    const invoice = pos.openInvoice();
    pos.platform.outage = 'unreachable';
    await pos.sendBasket('17', 150);
    pos.platform.outage = undefined;
    invoice.state = 'reserved';
    await pos.sendPostponedCalls();
    await pos.sendBasket('18', 50);
    expect(openInvoiceAmounts()).toEqual([100, 50]);
    await pos.pay(invoice);
    await pos.sendPostponedCalls();
    expect(openInvoiceAmounts()).toEqual([50]);
    expect((await pos.sendBasket('17', 150)).body).toMatchObject({
      Result: 'WARN',
      Message: expect.stringContaining('R 1.00 was paid'),
    });
  });

  it('is given up with an alert after 50 refusals', async () => {
    pos.platform.nextErrors.push(...Array.from({ length: 60 }, () => ({ method: 'POST', status: 500 })));
    await pos.sendBasket('17', 100);
    for (let attempt = 1; attempt < 50; attempt++) await pos.sendPostponedCalls();
    expect([countWaitingCalls(), alertMessages().length]).toEqual([0, 1]);
  });

  it('T8: is retried soon after its first refusal, even after 60 attempts during an outage', async () => {
    const outage = Array.from({ length: 60 }, () => ({ method: 'POST', status: 401 }));
    pos.platform.nextErrors.push(...outage, { method: 'POST', status: 500 });
    await pos.sendBasket('17', 100);
    for (let attempt = 1; attempt < outage.length; attempt++) await pos.sendPostponedCalls();
    expect([countWaitingCalls(), pos.platform.nextErrors.length]).toEqual([1, 1]);
    await pos.sendPostponedCalls();
    expect([countWaitingCalls(), alertMessages()]).toEqual([1, []]);
    await pos.sendPostponedCalls(1_000);
    expect([countWaitingCalls(), openInvoiceAmounts()]).toEqual([0, [100]]);
  });

  it('is not counted as a failed call if a customer is paying', async () => {
    await pos.sendBasket('17', 100);
    const invoice = pos.openInvoice();
    pos.platform.outage = 'unreachable';
    await pos.sendBasket('17', 150);
    pos.platform.outage = undefined;
    invoice.state = 'reserved';
    for (let attempt = 0; attempt < 60; attempt++) await pos.sendPostponedCalls();
    invoice.state = 'open';
    pos.platform.nextErrors.push({ method: 'POST', status: 500 });
    await pos.sendPostponedCalls();
    expect([countWaitingCalls(), alertMessages()]).toEqual([1, []]);
    await pos.sendPostponedCalls();
    expect(openInvoiceAmounts()).toEqual([150]);
  });

  it('stays in the queue while the platform refuses the key', async () => {
    pos.platform.nextErrors.push({ method: 'POST', status: 401 });
    expect((await pos.sendBasket('17', 100)).body).toStrictEqual(QUEUED_ANSWER);
    await pos.sendPostponedCalls();
    expect(openInvoiceAmounts()).toEqual([100]);
  });
});

it('a refund that the platform refuses after the till got its response causes an alert', async () => {
  await pos.sendBasket('17', 1_000);
  const svcId = await pos.pay();
  pos.platform.outage = 'unreachable';
  await pos.requestRefund(svcId, 400);
  pos.platform.outage = undefined;
  const problem = { code: 'refund.amount-exceeded', errors: [{ message: 'More than is left.' }] };
  pos.platform.nextErrors.push({ method: 'POST', status: 422, body: problem });
  await pos.sendPostponedCalls();
  expect(alertMessages()).toEqual([`The refund of R 4.00 for ${svcId} was not made: More than is left.`]);
});

it('a payment that arrives after its basket was closed causes an alert', async () => {
  await pos.sendBasket('17', 1_000);
  const invoice = pos.openInvoice();
  await pos.closeBasket('17', 'Void');
  await pos.pay(invoice);
  expect(alertMessages()).toEqual([
    'Order 17: R 10.00 was paid after it was closed. Refund it, or hand out the goods.',
  ]);
});

it('T8: each of eight concurrent tills has its own basket, and no call is lost', async () => {
  const tills = Array.from({ length: 8 }, (_, index) => `TILL-${index + 1}`);
  await Promise.all(
    tills.map(async (till, index) => {
      await pos.sendLine({ id: 1, itemPrice: index + 1, itemQuantity: 1, totalPrice: index + 1 }, till);
      expect((await pos.sendTotal(index + 1, '17', till)).body.Result).toBe('OK');
    }),
  );
  expect(openInvoiceAmounts().sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});

it('a second transformer cannot open the same database file', async () => {
  const file = pos.settings().database;
  expect(() => new Store(file)).toThrow('database is locked');
});

it('waiting calls are sent as soon as the stream is connected, even if no till waits for them', async () => {
  pos.platform.outage = 'unreachable';
  await pos.sendBasket('17', 100);
  pos.platform.outage = undefined;
  await pos.startStreams();
  await waitUntil('the invoice', 5_000, async () => openInvoiceAmounts().length === 1);
  expect(countWaitingCalls()).toBe(0);
});
