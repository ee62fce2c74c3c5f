import { waitUntil } from '@svc/testing';
import fc from 'fast-check';
import { SITE, TestTransformer } from '../../test/test-transformer.js';
import { AlertRepository } from '../platform/alert.repository.js';
import { CallSender } from '../platform/call-sender.js';
import { PaymentRepository } from './payment.repository.js';

let pos: TestTransformer;
beforeEach(async () => (pos = await TestTransformer.start()));
afterEach(() => pos.stop());

describe('T7: a payment', () => {
  it('is not found until it is final, and is unchanged after a restart', async () => {
    await pos.sendBasket('17', 100);
    expect(await pos.getPayment('17')).toMatchObject({ status: 404, body: { Result: 'STOP' } });
    expect(await pos.invoicePayment('17')).toMatchObject({ status: 404, body: { code: 'resource.not-found' } });
    const svcId = await pos.pay();
    const responses = [(await pos.getPayment('17')).body, (await pos.invoicePayment('17')).body];
    expect(responses).toMatchObject([
      { PaymentId: 1, SvcId: svcId, StatusId: '2', PaidAmount: 100 },
      { Id: 1, SvcId: svcId, ReceiptStatus: 'Paid', PaymentStatus: 'Success' },
    ]);
    await pos.restart();
    expect([(await pos.getPayment('17')).body, (await pos.invoicePayment('17')).body]).toEqual(responses);
  });

  it('is returned instead of an earlier failed payment of the basket if it succeeded', async () => {
    await pos.sendBasket('17', 100);
    const invoice = pos.openInvoice();
    await pos.pay(invoice, { status: 2 });
    expect((await pos.getPayment('17')).body).toMatchObject({ StatusId: '5', PaidAmount: 0 });
    expect((await pos.invoicePayment('17')).body).toMatchObject({ ReceiptStatus: 'Open', PaymentStatus: 'Failed' });
    const svcId = await pos.pay(invoice);
    expect((await pos.getPayment('17')).body).toMatchObject({ StatusId: '2', SvcId: svcId });
  });

  it.each(['', '?MerchantOrderId=', `?MerchantOrderId=${'9'.repeat(101)}`, '?MerchantOrderId=1&MerchantOrderId=2'])(
    'T5: cannot be requested by GetPayment%s: the 400 names the field',
    async (query) => {
      const reply = await pos.call('GET', `/GetPayment${query}`);
      expect(reply).toMatchObject({
        status: 400,
        body: { Result: 'STOP', Message: expect.stringContaining('MerchantOrderId') },
      });
    },
  );

  it.each([
    ['no reference', ''],
    ['a reference of 101 characters', '9'.repeat(101)],
    ['a reference of 6 000 characters', 'x'.repeat(6_000)],
  ])('T5: cannot be requested by the invoice path with %s: the 400 names the field', async (_, reference) => {
    const { status, body } = await pos.invoicePayment(reference);
    expect([status, body.errors?.[0].field]).toEqual([400, 'invoiceId']);
  });

  it.each(['x', '017', '17.0', '-17', '1e1', '%2017', '%C3%A9'.repeat(100)])(
    'T5: is not found by the reference %s of another order',
    async (reference) => {
      await pos.sendBasket('17', 100);
      await pos.pay();
      expect([(await pos.getPayment(reference)).status, (await pos.invoicePayment(reference)).status]).toEqual([
        404, 404,
      ]);
    },
  );

  const findByReference = async (reference: string): Promise<unknown[]> => {
    await pos.sendBasket(reference, 100);
    await pos.pay();
    const encoded = encodeURIComponent(reference);
    const replies = [await pos.getPayment(encoded), await pos.invoicePayment(encoded)];
    await pos.closeBasket(reference, 'Complete');
    return replies.map(({ status, body }) => [status, body.MerchantOrderId]);
  };

  it.each(['INV/2026/17', '/', '17/payment', '0017', 'a%2Fb', '100%', 'a+b c', 'é\u{1f600}', ' 17 ', 'a?b#c&d'])(
    'T5: is found by the reference %j as sent',
    async (reference) => {
      expect(await findByReference(reference)).toEqual([
        [200, reference],
        [200, reference],
      ]);
    },
  );

  it('T5: is found by any reference', async () => {
    const references = fc
      .string({ unit: 'binary', minLength: 1, maxLength: 100 })
      .filter((text) => text.length <= 100 && text.trim() !== '' && !/\p{Cc}/u.test(text) && text.isWellFormed())
      // An HTTP client resolves these segments of a path, even if they are percent-encoded.
      .filter((text) => text !== '.' && text !== '..');
    await fc.assert(
      fc.asyncProperty(references, async (reference) => {
        expect(await findByReference(reference)).toEqual([
          [200, reference],
          [200, reference],
        ]);
      }),
      { numRuns: 30 },
    );
  });

  it('T5: is found by a reference whose slashes are not encoded', async () => {
    await pos.sendBasket('INV/2026/17 a', 100);
    await pos.pay();
    expect((await pos.invoicePayment('INV/2026/17%20a')).body.MerchantOrderId).toBe('INV/2026/17 a');
    expect((await pos.invoicePayment('INV/2026/18')).status).toBe(404);
    expect((await pos.invoicePayment(`INV/${'9'.repeat(97)}`)).status).toBe(400);
    expect((await pos.call('GET', '/v1/invoice/INV/2026/17')).status).toBe(404);
    expect((await pos.invoicePayment('INV/%')).status).toBe(400);
  });

  it('is returned by GetPayment in a few times the time of an answer without data, as the median of a hundred calls', async () => {
    await pos.sendBasket('17', 100);
    await pos.pay();
    const measure = async (call: () => Promise<unknown>): Promise<number> => {
      const started = performance.now();
      await call();
      return performance.now() - started;
    };
    const times: { readonly getPayment: number; readonly live: number }[] = [];
    for (let call = 0; call < 100; call++)
      times.push({
        live: await measure(() => pos.call('GET', '/health/live')),
        getPayment: await measure(() => pos.getPayment('17')),
      });
    const medianOf = (name: 'getPayment' | 'live'): number => times.map((one) => one[name]).sort((a, b) => a - b)[50]!;
    expect(medianOf('getPayment') / medianOf('live')).toBeLessThan(5);
  });
});

describe('a payment of an older version of the basket', () => {
  /**
   * The connection breaks, the basket changes, and the customer pays the old code, which they had scanned before the
   * change.
   */
  async function payOlderVersion(): Promise<void> {
    await pos.sendBasket('17', 100);
    const older = pos.openInvoice();
    pos.platform.outage = 'unreachable';
    await pos.sendBasket('17', 150);
    pos.platform.outage = undefined;
    await pos.pay(older);
  }

  it('is found and closes the newer code, and each later answer to the till warns about the payment', async () => {
    await payOlderVersion();
    await pos.sendPostponedCalls();
    await pos.pollPayments();
    expect((await pos.getPayment('17')).body).toMatchObject({ StatusId: '2', PaidAmount: 100 });
    expect(pos.platform.openInvoices()).toEqual([]);
    const warning = { Result: 'WARN', Message: expect.stringContaining('R 1.00 was paid for an earlier version') };
    expect((await pos.sendBasket('17', 150)).body).toEqual(warning);
    expect((await pos.closeBasket('17', 'Complete')).body).toEqual(warning);
  });

  it('is found by polling after its invoice was replaced, as long as that invoice may have been paid', async () => {
    await pos.sendBasket('17', 100);
    const older = pos.openInvoice();
    await pos.sendBasket('17', 150);
    pos.clock.advance(15 * 60_000);
    await pos.pay(older);
    expect((await pos.getPayment('17')).body.PaidAmount).toBe(100);
  });
});

describe('the store', () => {
  it('receives payments through the stream, which continues after a restart at the saved position', async () => {
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

  it('receives payments through the stream after its connection was interrupted', async () => {
    await pos.startStreams();
    await pos.sendBasket('17', 100);
    pos.platform.cutStreams();
    pos.platform.pay(pos.openInvoice());
    await waitUntil('the payment', 10_000, async () => (await pos.getPayment('17')).status === 200);
    expect((await pos.getPayment('17')).body.StatusId).toBe('2');
  });

  it('receives payments through polling only while the stream is silent', async () => {
    await pos.startStreams();
    await pos.sendBasket('17', 100);
    const countPolls = (): number => pos.platform.requests.filter(({ path }) => path.endsWith('/payments')).length;
    await pos.pollPayments();
    expect(countPolls()).toBe(0);
    pos.clock.advance(20_000);
    await pos.pollPayments();
    expect(countPolls()).toBe(1);
  });

  it('receives a payment through the stream even if the response to its invoice request was lost, after the retry', async () => {
    pos.platform.outage = 'lost-responses';
    expect((await pos.sendBasket('17', 100)).body.Result).toBe('WARN');
    pos.platform.outage = undefined;
    await pos.startStreams();
    const [invoice] = pos.platform.openInvoices();
    const svcId = pos.platform.pay(invoice!).paymentReference;
    const payments = pos.transformer.app.get(PaymentRepository);
    await waitUntil('the payment', 5_000, async () => payments.findBySvcId(svcId) !== undefined);
    await pos.sendPostponedCalls();
    expect((await pos.getPayment('17')).body).toMatchObject({ StatusId: '2', PaidAmount: 100 });
    expect(pos.platform.openInvoices()).toEqual([]);
  });
});

describe('a payment of less than the amount due', () => {
  const partialPayment = { tenderedAmount: 150, tipAmount: 50 };
  const UNDERPAID_MESSAGE = expect.stringMatching(/R 1\.00 instead of R 89\.50 was paid .* owes R 89\.50/) as string;

  it('does not settle the basket: each call of the till gets a warning', async () => {
    await pos.sendBasket('17', 8_950);
    await pos.pay(pos.openInvoice(), partialPayment);
    expect((await pos.sendBasket('17', 8_950)).body).toMatchObject({ Result: 'WARN', Message: UNDERPAID_MESSAGE });
    expect((await pos.closeBasket('17', 'Complete')).body).toMatchObject({
      Result: 'WARN',
      Message: UNDERPAID_MESSAGE,
    });
    expect((await pos.getPayment('17')).body).toMatchObject({ PaidAmount: 150 });
    expect(pos.platform.openInvoices()).toEqual([]);
  });

  it('causes a WARN with the amount to refund when the order is voided', async () => {
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

test('a payment of a web shop whose order has the reference of a basket does not pay that basket', async () => {
  await pos.sendBasket('17', 100);
  const invoice = pos.openInvoice();
  await pos.startStreams();
  pos.platform.pay({ ...invoice, reference: 'a-session' });
  pos.platform.outage = 'lost-responses';
  await pos.sendBasket('18', 100);
  pos.platform.outage = undefined;
  const unanswered = pos.platform.openInvoices().find(({ body }) => body['externalReference'] === '18')!;
  pos.platform.pay({ ...unanswered, reference: 'another-session' });
  const svcId = pos.platform.pay({
    ...unanswered,
    body: { ...unanswered.body, externalReference: 'x' },
  }).paymentReference;
  // The payment `svcId` arrives last. Once it can be refunded, the earlier payments have been processed.
  await waitUntil('the last payment', 5_000, async () => (await pos.requestRefund(svcId, 1)).body.Result !== 'STOP');
  expect([(await pos.getPayment('17')).status, (await pos.getPayment('18')).status]).toEqual([404, 404]);
});

test('a stream position that is too old is deleted, and payments still arrive', async () => {
  await pos.startStreams();
  await pos.sendBasket('17', 100);
  pos.platform.nextErrors.push({ method: 'GET', status: 410 });
  pos.platform.cutStreams();
  await waitUntil('the streams of both sites', 20_000, async () => pos.platform.streamCount === 2);
  pos.platform.pay(pos.openInvoice());
  pos.clock.advance(20_000);
  await waitUntil('the payment', 10_000, async () => {
    await pos.pollPayments();
    return (await pos.getPayment('17')).status === 200;
  });
  expect((await pos.invoicePayment('17')).body.MerchantSiteId).toBe(SITE);
});

describe('the transformer', () => {
  const isPaymentStored = async (reference: string): Promise<boolean> =>
    (await pos.getPayment(reference)).status === 200;

  it('polls each invoice that may have been paid once if the stream begins without a position', async () => {
    // One round polls eight invoices, so nine invoices need two rounds.
    const references = Array.from({ length: 9 }, (_, index) => `${index + 17}`);
    for (const reference of references) await pos.sendBasket(reference, 100);
    for (const invoice of pos.platform.openInvoices()) pos.platform.pay(invoice);
    await pos.startStreams();
    const position = (): unknown => pos.transformer.app.get(PaymentRepository).findPosition(SITE);
    await waitUntil('the position', 5_000, async () => position() !== undefined);
    await pos.pollPayments();
    await pos.pollPayments();
    for (const reference of references)
      expect([reference, await isPaymentStored(reference)]).toEqual([reference, true]);
    const countPolls = (): number => pos.platform.requests.filter(({ path }) => path.endsWith('/payments')).length;
    await pos.sendBasket('99', 100);
    await pos.pollPayments();
    expect(countPolls()).toBe(9);
  });

  it('polls no invoice if the stream begins at its stored position', async () => {
    await pos.startStreams();
    const position = (): unknown => pos.transformer.app.get(PaymentRepository).findPosition(SITE);
    await waitUntil('the position', 5_000, async () => position() !== undefined);
    await pos.sendBasket('17', 100);
    await pos.restart();
    const markReachable = jest.spyOn(pos.transformer.app.get(CallSender), 'markReachable');
    await pos.startStreams();
    await waitUntil('the stream', 10_000, async () => markReachable.mock.calls.some(([siteId]) => siteId === SITE));
    await pos.pollPayments();
    const polls = pos.platform.requests.filter(({ path }) => path.startsWith(`/sites/${SITE}/invoices/`));
    expect(polls).toEqual([]);
  });

  it('polls, and reopens the stream with backoff, if a message of the stream cannot be parsed', async () => {
    await pos.startStreams();
    await pos.sendBasket('17', 100);
    const countStreamRequests = (): number =>
      pos.platform.requests.filter(({ path }) => path === `/sites/${SITE}/payments/stream`).length;
    const started = performance.now();
    pos.platform.sendNotification(SITE, { type: 'payment' });
    pos.platform.pay(pos.openInvoice());
    await waitUntil('the payment', 10_000, async () => {
      await pos.pollPayments();
      return isPaymentStored('17');
    });
    await waitUntil('three more streams', 10_000, async () => countStreamRequests() >= 4);
    // The three pauses are 0.5, 1 and 2 s. Jitter shortens each by at most 25 %.
    expect(performance.now() - started).toBeGreaterThan(2_300);
  });
});
