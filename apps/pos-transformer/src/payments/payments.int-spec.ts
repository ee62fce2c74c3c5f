import { waitUntil } from '@svc/testing';
import type { FakeInvoice } from '../../test/fake-platform.js';
import { SITE, TestTransformer } from '../../test/test-transformer.js';
import { AlertRepository } from '../platform/alert.repository.js';
import { PaymentRepository } from './payment.repository.js';

let pos: TestTransformer;
beforeEach(async () => (pos = await TestTransformer.start()));
afterEach(() => pos.stop());

describe('T7: a payment', () => {
  it('is not found until it is final, and the same after a restart', async () => {
    await pos.sendBasket('17', 100);
    expect(await pos.getPayment('17')).toMatchObject({ status: 404, body: { Result: 'STOP' } });
    expect(await pos.invoicePayment('17')).toMatchObject({ status: 404, body: { code: 'resource.not-found' } });
    const svcId = await pos.pay();
    const before = [(await pos.getPayment('17')).body, (await pos.invoicePayment('17')).body];
    expect(before).toMatchObject([
      { PaymentId: 1, SvcId: svcId, StatusId: '2', PaidAmount: 100 },
      { Id: 1, SvcId: svcId, ReceiptStatus: 'Paid', PaymentStatus: 'Success' },
    ]);
    await pos.restart();
    expect([(await pos.getPayment('17')).body, (await pos.invoicePayment('17')).body]).toEqual(before);
  });

  it('that succeeded counts before failed ones', async () => {
    await pos.sendBasket('17', 100);
    const invoice = pos.openInvoice();
    await pos.pay(invoice, { status: 2 });
    expect((await pos.getPayment('17')).body).toMatchObject({ StatusId: '5', PaidAmount: 0 });
    expect((await pos.invoicePayment('17')).body).toMatchObject({ ReceiptStatus: 'Open', PaymentStatus: 'Failed' });
    const svcId = await pos.pay(invoice);
    expect((await pos.getPayment('17')).body).toMatchObject({ StatusId: '2', SvcId: svcId });
  });

  it.each([
    '',
    '?MerchantOrderId=',
    '?MerchantOrderId=x',
    '?MerchantOrderId=1.5',
    '?MerchantOrderId=-1',
    '?MerchantOrderId=1&MerchantOrderId=2',
  ])('T5: GetPayment%s is a 400 that names the field', async (query) => {
    const reply = await pos.call('GET', `/GetPayment${query}`);
    expect(reply).toMatchObject({
      status: 400,
      body: { Result: 'STOP', Message: expect.stringContaining('MerchantOrderId') },
    });
  });

  it.each(['x', '1.5', '-1', '1e3'])('T5: the invoice %s is a 400', async (reference) => {
    expect((await pos.invoicePayment(reference)).body.errors[0].field).toBe('invoiceId');
  });

  it('answers in under 5 ms, as the median of a hundred', async () => {
    await pos.sendBasket('17', 100);
    await pos.pay();
    const times: number[] = [];
    for (let call = 0; call < 100; call++) {
      const started = performance.now();
      await pos.getPayment('17');
      times.push(performance.now() - started);
    }
    expect(times.sort((a, b) => a - b)[50]).toBeLessThan(5);
  });
});

describe('a payment of an older version of the basket', () => {
  /** The line breaks, the basket changes, and a customer pays the code that they have scanned before. */
  async function payOlderVersion(): Promise<void> {
    await pos.sendBasket('17', 100);
    const older = pos.openInvoice();
    pos.platform.outage = 'unreachable';
    await pos.sendBasket('17', 150);
    pos.platform.outage = undefined;
    await pos.pay(older);
  }

  it('is found, closes the newer code, and every answer warns about it', async () => {
    await payOlderVersion();
    await pos.sendPostponedCalls();
    await pos.pollPayments();
    expect((await pos.getPayment('17')).body).toMatchObject({ StatusId: '2', PaidAmount: 100 });
    expect(pos.platform.openInvoices()).toEqual([]);
    const warning = { Result: 'WARN', Message: expect.stringContaining('R 1.00 was paid for an earlier version') };
    expect((await pos.sendBasket('17', 150)).body).toEqual(warning);
    expect((await pos.closeBasket('17', 'Complete')).body).toEqual(warning);
  });

  it('whose invoice was replaced is found by polling, as long as that invoice may still have been paid', async () => {
    await pos.sendBasket('17', 100);
    const older = pos.openInvoice();
    await pos.sendBasket('17', 150);
    pos.clock.advance(15 * 60_000);
    await pos.pay(older);
    expect((await pos.getPayment('17')).body.PaidAmount).toBe(100);
  });
});

describe('payments reach the store', () => {
  it('by the stream, from the position that was saved before a restart', async () => {
    await pos.startStreams();
    await pos.sendBasket('17', 100);
    pos.platform.pay(pos.openInvoice());
    await waitUntil('the payment', 5_000, async () => (await pos.getPayment('17')).status === 200);

    await pos.sendBasket('18', 200);
    const invoice = pos.openInvoice();
    await pos.transformer.close();
    pos.platform.pay(invoice);
    await pos.startWithSameDatabase();
    await pos.startStreams();
    await waitUntil('the payment made meanwhile', 5_000, async () => (await pos.getPayment('18')).status === 200);
    expect((await pos.getPayment('18')).body).toMatchObject({ PaymentId: 2, PaidAmount: 200 });
  });

  it('by the stream, when its connection was cut', async () => {
    await pos.startStreams();
    await pos.sendBasket('17', 100);
    pos.platform.cutStreams();
    pos.platform.pay(pos.openInvoice());
    await waitUntil('the payment', 10_000, async () => (await pos.getPayment('17')).status === 200);
    expect((await pos.getPayment('17')).body.StatusId).toBe('2');
  });

  it('by polling only while the stream is silent', async () => {
    await pos.startStreams();
    await pos.sendBasket('17', 100);
    const polls = (): number => pos.platform.requests.filter(({ path }) => path.endsWith('/payments')).length;
    await pos.pollPayments();
    expect(polls()).toBe(0);
    pos.clock.advance(20_000);
    await pos.pollPayments();
    expect(polls()).toBe(1);
  });

  it('also if the response with the reference of their invoice was lost', async () => {
    pos.platform.outage = 'lost-responses';
    expect((await pos.sendBasket('17', 100)).body.Result).toBe('WARN');
    pos.platform.outage = undefined;
    await pos.startStreams();
    const [invoice] = pos.platform.openInvoices();
    pos.platform.pay(invoice!);
    await waitUntil('the payment', 5_000, async () => (await pos.getPayment('17')).status === 200);
    expect((await pos.getPayment('17')).body).toMatchObject({ StatusId: '2', PaidAmount: 100 });
    await pos.sendPostponedCalls();
    expect(pos.platform.openInvoices()).toEqual([]);
  });
});

describe('an invoice whose response was lost, and which is paid before the retry', () => {
  const loseResponse = async (): Promise<FakeInvoice> => {
    pos.platform.outage = 'lost-responses';
    await pos.sendBasket('17', 100);
    pos.platform.outage = undefined;
    return pos.openInvoice();
  };

  it('is polled first, and not created again', async () => {
    pos.platform.pay(await loseResponse());
    await pos.sendPostponedCalls();
    expect(pos.platform.invoices).toHaveLength(1);
    expect((await pos.getPayment('17')).body).toMatchObject({ StatusId: '2', PaidAmount: 100 });
    expect((await pos.sendBasket('17', 100)).body).toEqual({
      Result: 'OK',
      Message: expect.stringContaining('has been paid'),
    });
  });

  it('is created again if polling fails, because tills wait for the code', async () => {
    const invoice = await loseResponse();
    pos.platform.nextErrors.push({ method: 'GET', status: 500 });
    await pos.sendPostponedCalls();
    expect((await pos.sendBasket('17', 100)).body.Result).toBe('OK');
    expect(pos.openInvoice()).toBe(invoice);
    expect(pos.platform.requests.map(({ method }) => method)).toEqual(['POST', 'POST', 'POST', 'POST', 'GET', 'POST']);
  });

  it('is polled before the invoice of another version of its basket is created', async () => {
    pos.platform.pay(await loseResponse());
    pos.clock.advance(60_000);
    expect((await pos.sendBasket('17', 150)).body.Result).toBe('WARN');
    expect(pos.platform.invoices).toHaveLength(1);
    expect((await pos.getPayment('17')).body.PaidAmount).toBe(100);
  });

  it('also pays its basket if the payment is reported after a second invoice was created, which is then closed', async () => {
    await pos.startStreams();
    const first = await loseResponse();
    first.state = 'paid';
    await pos.sendPostponedCalls();
    expect(pos.platform.invoices).toHaveLength(2);
    pos.platform.pay(first);
    await waitUntil('the payment', 5_000, async () => (await pos.getPayment('17')).status === 200);
    await pos.sendPostponedCalls();
    expect((await pos.getPayment('17')).body).toMatchObject({ StatusId: '2', PaidAmount: 100 });
    expect(pos.platform.openInvoices()).toEqual([]);
  });
});

describe('a customer who paid less than the amount due, if the merchant allows it', () => {
  const partialPayment = { tenderedAmount: 150, tipAmount: 50 };
  const UNDERPAID_MESSAGE = expect.stringMatching(/R 1\.00 instead of R 89\.50 was paid .* owes R 89\.50/) as string;

  it('has not paid it: each call of the till warns', async () => {
    await pos.sendBasket('17', 8_950);
    await pos.pay(pos.openInvoice(), partialPayment);
    expect((await pos.sendBasket('17', 8_950)).body).toMatchObject({ Result: 'WARN', Message: UNDERPAID_MESSAGE });
    expect((await pos.closeBasket('17', 'Complete')).body).toMatchObject({ Result: 'WARN', Message: UNDERPAID_MESSAGE });
    expect((await pos.getPayment('17')).body).toMatchObject({ PaidAmount: 150 });
    expect(pos.platform.openInvoices()).toEqual([]);
  });

  it('leads to a WARN with the paid amount to refund, if the order is voided', async () => {
    await pos.sendBasket('17', 8_950);
    await pos.pay(pos.openInvoice(), partialPayment);
    expect((await pos.closeBasket('17', 'Void')).body.Message).toBe('This order was paid: R 1.00. Refund it.');
  });

  it('causes an alert for the cashier', async () => {
    await pos.sendBasket('17', 8_950);
    await pos.pay(pos.openInvoice(), partialPayment);
    const alerts = pos.transformer.app
      .get(AlertRepository)
      .list(SITE, '')
      .map(({ message }) => message);
    expect(alerts).toEqual(['Order 17: R 1.50 was paid instead of R 89.50. Settle the difference at the till.']);
  });
});

test('a payment of a web shop that uses the same reference pays no basket', async () => {
  await pos.sendBasket('17', 100);
  const invoice = pos.openInvoice();
  await pos.startStreams();
  pos.platform.pay({ ...invoice, reference: 'a-session' });
  pos.platform.outage = 'lost-responses';
  await pos.sendBasket('18', 100);
  pos.platform.outage = undefined;
  const unanswered = pos.platform.openInvoices().find(({ body }) => body['externalReference'] === '18')!;
  pos.platform.pay({ ...unanswered, reference: 'another-session' }, { invoicedAmount: 99 });
  pos.platform.pay({ ...unanswered, reference: 'a-third' }, { siteReference: 'WEB' });
  const svcId = pos.platform.pay({
    ...unanswered,
    body: { ...unanswered.body, externalReference: 'x' },
  }).paymentReference;
  // A refund needs the payment here: it has arrived after the others.
  await waitUntil('the last of them', 5_000, async () => (await pos.requestRefund(svcId, 1)).body.Result !== 'STOP');
  expect([(await pos.getPayment('17')).status, (await pos.getPayment('18')).status]).toEqual([404, 404]);
});

test('a stream position that is too old is deleted, and payments still arrive', async () => {
  await pos.startStreams();
  await pos.sendBasket('17', 100);
  pos.platform.nextErrors.push({ method: 'GET', status: 410 });
  pos.platform.cutStreams();
  await waitUntil('a stream that is open again', 20_000, async () => pos.platform.streamCount === 2);
  pos.platform.pay(pos.openInvoice());
  pos.clock.advance(20_000);
  await waitUntil('the payment', 10_000, async () => {
    await pos.pollPayments();
    return (await pos.getPayment('17')).status === 200;
  });
  expect((await pos.invoicePayment('17')).body.MerchantSiteId).toBe(SITE);
});

describe('a stream that does not report every payment', () => {
  const isPaymentStored = async (reference: string): Promise<boolean> => (await pos.getPayment(reference)).status === 200;

  it('because it begins without a position: invoices that may have been paid before are polled once', async () => {
    const references = Array.from({ length: 9 }, (_, index) => `${index + 17}`);
    for (const reference of references) await pos.sendBasket(reference, 100);
    for (const invoice of pos.platform.openInvoices()) pos.platform.pay(invoice);
    await pos.startStreams();
    const position = (): unknown => pos.transformer.app.get(PaymentRepository).findPosition(SITE);
    await waitUntil('the position', 5_000, async () => position() !== undefined);
    await pos.pollPayments();
    await pos.pollPayments();
    for (const reference of references) expect([reference, await isPaymentStored(reference)]).toEqual([reference, true]);
    const polls = (): number => pos.platform.requests.filter(({ path }) => path.endsWith('/payments')).length;
    await pos.sendBasket('99', 100);
    await pos.pollPayments();
    expect(polls()).toBe(9);
  });

  it('because a message cannot be parsed: payments are polled, and the stream is reopened with backoff', async () => {
    await pos.startStreams();
    await pos.sendBasket('17', 100);
    const opened = (): number =>
      pos.platform.requests.filter(({ path }) => path === `/sites/${SITE}/payments/stream`).length;
    const started = performance.now();
    pos.platform.sendNotice(SITE, { type: 'payment' });
    pos.platform.pay(pos.openInvoice());
    await waitUntil('the payment', 10_000, async () => {
      await pos.pollPayments();
      return isPaymentStored('17');
    });
    await waitUntil('three more streams', 10_000, async () => opened() >= 4);
    // Pauses of 0.5, 1 and 2 s, 25 % less at most.
    expect(performance.now() - started).toBeGreaterThan(2_300);
  });
});
