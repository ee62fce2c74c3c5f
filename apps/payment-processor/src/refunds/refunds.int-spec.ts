import { randomUUID } from 'node:crypto';
import { type HostedPaymentSnapshot, RefundFailedV1, RefundSucceededV1 } from '@svc/contracts';
import { httpClient } from '@svc/testing';
import { readRefundRecords } from '../../test/books/refund-books.js';
import { buildPayable } from '../../test/builders.js';
import { CARDS } from '../../test/encrypted-card.js';
import { createRefundClient, type RefundClient } from '../../test/merchant-key.js';
import { createMerchant, createPartner, openInvoice } from '../../test/partner.js';
import { type Processor, startProcessor } from '../../test/processor.js';

let processor: Processor;
let merchant: { merchantId: number; siteId: number };
let backOffice: RefundClient;
let merchantId = 80_000;
beforeAll(async () => {
  processor = await startProcessor({ SVC_ACQUIRER_LIVE: 'simulated' });
});
afterAll(() => processor.stop());
beforeEach(async () => {
  merchant = { merchantId: ++merchantId, siteId: 5001 };
  backOffice = await createRefundClient(processor, { merchantId });
});

/** Creates a payment of R 123.45. The payment succeeds with the default card. */
const createPaidPayment = (
  overrides: { card?: string; siteId?: number; mode?: 'test' | 'live' } = {},
): Promise<HostedPaymentSnapshot> => {
  const { card, ...payable } = overrides;
  return processor.pay(buildPayable({ ...merchant, ...payable }), card === undefined ? {} : { card });
};
const expectedProblem = (status: number, message: RegExp, field?: string) => ({
  status,
  body: { errors: [{ message: expect.stringMatching(message), ...(field === undefined ? {} : { field }) }] },
});
/** The whole body of the 422 for a refund that is too large. */
const newAmountProblem = (detail: string): unknown => ({
  type: '/errors/refund.amount-exceeded',
  title: 'The refund is more than what is left of this payment. Pending refunds count.',
  status: 422,
  code: 'refund.amount-exceeded',
  detail,
  instance: expect.any(String) as string,
  errors: [{ errorReference: '40', message: detail }],
});
const findEvents = async (
  type: typeof RefundSucceededV1,
  { paymentReference }: Pick<HostedPaymentSnapshot, 'paymentReference'>,
): Promise<unknown[]> => {
  const events = await processor.published(type);
  return events.filter(({ payload }) => payload.paymentReference === paymentReference).map(({ payload }) => payload);
};

describe('a refund (M5)', () => {
  test('is rejected with a 400 that names the key if the body has a key twice, and null is a missing field', async () => {
    const { paymentReference } = await createPaidPayment();
    expect(await backOffice.refund(paymentReference, '{"amount":1,"amount":12345}')).toMatchObject(
      expectedProblem(400, /^amount must not be sent twice$/, 'amount'),
    );
    expect(await backOffice.refund(paymentReference, { amount: null })).toMatchObject(
      expectedProblem(400, /^amount is required$/, 'amount'),
    );
    expect((await backOffice.refund(paymentReference, { amount: 1, reason: null })).status).toBe(201);
  });

  test('returns money at the bank and in the ledger, and publishes an event that contains the unchanged payment', async () => {
    const { payable: _, ...payment } = await createPaidPayment();
    const { status, body, headers } = await backOffice.refund(payment.paymentReference, {
      amount: 345,
      reason: 'broken',
    });
    expect([status, headers['cache-control']]).toEqual([201, 'no-store']);
    expect(body).toEqual({
      refundReference: expect.stringMatching(/^[0-9a-f-]{36}$/),
      svcId: payment.paymentReference,
      amount: 345,
      status: 'succeeded',
      createdUTCDate: processor.clock.nowISO(),
    });
    expect(await readRefundRecords(processor, payment.paymentReference)).toEqual({
      processed: 12_345,
      refunded: 345,
      pending: 0,
      refunds: [{ amount: 345, state: 'succeeded', requestedBy: backOffice.keyId }],
      ledger: [
        {
          amount: 345,
          currency: 'ZAR',
          debit: `test:merchant:${merchantId}:payable`,
          credit: 'test:acquirer:simulated:receivable',
        },
      ],
      bank: [{ amount: 345, account: `merchant-${merchantId}` }],
      events: 1,
    });
    const { refundReference, amount, createdUTCDate } = body;
    const refund = { refundReference, amount, status: 'succeeded', createdUTCDate };
    expect(await findEvents(RefundFailedV1, payment)).toEqual([]);
    expect(await findEvents(RefundSucceededV1, payment)).toEqual([expect.objectContaining({ ...payment, refund })]);
  });

  test('can be partial and repeated until nothing is left; the list contains the newest refund first', async () => {
    const { paymentReference } = await createPaidPayment();
    const createdRefunds = [];
    for (const amount of [5_000, 7_000, 345]) {
      createdRefunds.push((await backOffice.refund(paymentReference, { amount })).body);
      processor.clock.advance(1);
    }
    const message = 'The refund is more than what is left of this payment: 0 cents (R 0.00).';
    const { status, body } = await backOffice.refund(paymentReference, { amount: 1 });
    expect([status, body]).toEqual([422, newAmountProblem(message)]);
    expect(await backOffice.list(paymentReference)).toMatchObject({ status: 200, body: createdRefunds.toReversed() });
    expect(await readRefundRecords(processor, paymentReference)).toMatchObject({ refunded: 12_345, pending: 0 });
  });

  test('finds the payment by a payment reference in upper or lower case', async () => {
    const { paymentReference } = await createPaidPayment();
    const { body } = await backOffice.refund(paymentReference.toLowerCase());
    expect(body).toMatchObject({ svcId: paymentReference, status: 'succeeded' });
  });

  test('returns the charge of a verified payment, not the attempt that required the verification', async () => {
    const payable = buildPayable(merchant);
    const challenged = await processor.pay(payable, { card: CARDS.verificationRequired });
    await processor.answerChallenge(challenged, 'confirm');
    expect(await processor.pollPayments(payable)).toMatchObject([{ state: 'success' }]);
    const refunded = await backOffice.refund(challenged.paymentReference);
    expect(refunded).toMatchObject({ status: 201, body: { status: 'succeeded' } });
    expect((await readRefundRecords(processor, challenged.paymentReference)).bank).toHaveLength(1);
  });

  test('fails if the bank declines it; then its amount is released, and an event is published', async () => {
    const payment = await createPaidPayment({ card: CARDS.refundDeclined });
    const declined = await backOffice.refund(payment.paymentReference, { amount: 12_345 });
    expect(declined).toMatchObject({ status: 201, body: { status: 'failed', amount: 12_345 } });
    expect(await readRefundRecords(processor, payment.paymentReference)).toMatchObject({
      refunded: 0,
      pending: 0,
      refunds: [{ state: 'failed' }],
      ledger: [],
      events: 1,
    });
    expect(await findEvents(RefundSucceededV1, payment)).toEqual([]);
    expect(await findEvents(RefundFailedV1, payment)).toMatchObject([
      { state: 'success', refund: { status: 'failed' } },
    ]);
    // The whole amount can be refunded again.
    expect((await backOffice.refund(payment.paymentReference, { amount: 12_345 })).status).toBe(201);
  });

  test('uses the live accounts of the bank and the ledger in live mode', async () => {
    const liveBackOffice = await createRefundClient(processor, { merchantId, mode: 'live' });
    const { paymentReference } = await createPaidPayment({ mode: 'live' });
    expect(await liveBackOffice.refund(paymentReference)).toMatchObject({ status: 201, body: { status: 'succeeded' } });
    expect((await readRefundRecords(processor, paymentReference)).ledger).toMatchObject([
      { debit: `live:merchant:${merchantId}:payable` },
    ]);
  });
});

describe('the service', () => {
  test('cannot refund an amount above the processed amount', async () => {
    const { paymentReference } = await createPaidPayment();
    const message = 'The refund is more than what is left of this payment: 12345 cents (R 123.45).';
    const { status, body } = await backOffice.refund(paymentReference, { amount: 12_346 });
    expect([status, body]).toEqual([422, newAmountProblem(message)]);
    expect((await readRefundRecords(processor, paymentReference)).refunds).toEqual([]);
  });

  test('cannot refund a failed or unfinished payment', async () => {
    for (const card of [CARDS.declined, CARDS.verificationRequired, CARDS.responseLost]) {
      const { paymentReference } = await createPaidPayment({ card });
      expect(await backOffice.refund(paymentReference)).toMatchObject(
        expectedProblem(422, /Only a payment that succeeded/),
      );
    }
  });

  test('cannot refund the amount that vouchers cover, only the amount paid by card', async () => {
    const [grantingMerchant, partner] = [await createGrantingMerchant(), await createPartner(processor)];
    await grantingMerchant.grant(partner.organisationId);
    const voucher = (amount: number) => ({ vouchers: [{ merchantLiable: true, amount }] });
    const mixed = await partner.pay(await openInvoice(processor, grantingMerchant.site), voucher(12_000));
    const svcId = mixed.body.paymentReference as string;
    expect((await backOffice.refund(svcId, { amount: 346 })).status).toBe(422);
    expect(await backOffice.refund(svcId, { amount: 345 })).toMatchObject({
      status: 201,
      body: { status: 'succeeded' },
    });
    const paidByVouchersOnly = { ...voucher(12_345), paymentMethod: undefined };
    const covered = await partner.pay(await openInvoice(processor, grantingMerchant.site), paidByVouchersOnly);
    expect(await backOffice.refund(covered.body.paymentReference)).toMatchObject(
      expectedProblem(422, /Vouchers covered/),
    );
  });

  test('cannot refund an external payment', async () => {
    const [grantingMerchant, partner] = [await createGrantingMerchant(), await createPartner(processor)];
    await grantingMerchant.grant(partner.organisationId);
    const external = { external: { type: 'EFT', status: 'success', reference: 'bank-1' } };
    const paid = await partner.pay(await openInvoice(processor, grantingMerchant.site), { paymentMethod: external });
    expect(await backOffice.refund(paid.body.paymentReference)).toMatchObject(expectedProblem(422, /made elsewhere/));
  });

  async function createGrantingMerchant() {
    const site = await createMerchant(processor, { merchantId });
    const grant = async (organisationId: string): Promise<unknown> =>
      createMerchant(processor, { merchantId, grants: [{ organisationId, vouchers: true, externalPayments: true }] });
    return { site, grant };
  }
});

describe('access to refunds', () => {
  test('a site can refund its own payments, and cannot find payments of other sites', async () => {
    const [paymentOfSite, paymentOfOtherSite] = [
      await createPaidPayment({ siteId: 5001 }),
      await createPaidPayment({ siteId: 5002 }),
    ];
    const site = await createRefundClient(processor, { merchantId, siteId: 5001 });
    expect((await site.refund(paymentOfSite.paymentReference)).status).toBe(201);
    expect((await site.list(paymentOfSite.paymentReference)).body).toHaveLength(1);
    expect(await site.refund(paymentOfOtherSite.paymentReference)).toMatchObject(
      expectedProblem(404, /no such payment/),
    );
    expect((await site.list(paymentOfOtherSite.paymentReference)).status).toBe(404);
    expect((await readRefundRecords(processor, paymentOfOtherSite.paymentReference)).refunds).toEqual([]);
  });

  test('an Idempotency-Key does not reveal the refund of another site', async () => {
    const paymentOfOtherSite = await createPaidPayment({ siteId: 5002 });
    const key = randomUUID();
    await backOffice.refund(paymentOfOtherSite.paymentReference, { amount: 100 }, key);
    const site = await createRefundClient(processor, { merchantId, siteId: 5001 });
    expect((await site.refund(paymentOfOtherSite.paymentReference, { amount: 100 }, key)).status).toBe(404);
  });

  test('another merchant cannot find the payment, and may not use the path of this merchant', async () => {
    const { paymentReference } = await createPaidPayment();
    const otherMerchantClient = await createRefundClient(processor, { merchantId: merchantId + 500_000 });
    expect((await otherMerchantClient.refund(paymentReference)).status).toBe(404);
    expect((await otherMerchantClient.refund(paymentReference, { amount: 100 }, 'key', merchantId)).status).toBe(403);
  });

  test('an API key of one mode cannot find payments of the other mode', async () => {
    const [testPayment, livePayment] = [await createPaidPayment(), await createPaidPayment({ mode: 'live' })];
    const liveBackOffice = await createRefundClient(processor, { merchantId, mode: 'live' });
    expect((await liveBackOffice.refund(testPayment.paymentReference)).status).toBe(404);
    expect((await backOffice.refund(livePayment.paymentReference)).status).toBe(404);
  });

  test('an unknown API key is rejected with 401 and an empty body, even if other fields are invalid', async () => {
    for (const headers of [{}, { 'x-api-key': 'svc_test_merchant_x' }]) {
      const { status, body } = await httpClient(processor.service, headers)(
        'POST',
        `/business/api/v1/merchants/${merchantId}/refunds`,
        { amount: 'x' },
      );
      expect([status, body]).toEqual([401, undefined]);
    }
  });

  test.each(['0123456789ABCDEFGH', 'x', '%00', 'X'.repeat(5_000)])(
    'an unknown svcId, %j, is rejected with 404',
    async (svcId) => {
      expect((await backOffice.refund(svcId)).status).toBe(404);
      expect((await backOffice.list(svcId)).status).toBe(404);
    },
  );

  test('a svcId that is missing or sent twice is rejected with 400', async () => {
    const client = httpClient(processor.service, { 'x-api-key': backOffice.apiKey, 'idempotency-key': 'k' });
    const path = `/business/api/v1/merchants/${merchantId}/refunds`;
    for (const query of ['', '?svcId=', '?svcId=a&svcId=b'])
      for (const method of ['GET', 'POST'] as const)
        expect(await client(method, path + query, method === 'POST' ? { amount: 1 } : undefined)).toMatchObject(
          expectedProblem(400, /given once/, 'svcId'),
        );
  });
});

describe('the Idempotency-Key (C7)', () => {
  test('is required, and must have 1 to 100 characters', async () => {
    const { paymentReference } = await createPaidPayment();
    const path = `/business/api/v1/merchants/${merchantId}/refunds?svcId=${paymentReference}`;
    const withoutKey = await httpClient(processor.service, { 'x-api-key': backOffice.apiKey })('POST', path, {
      amount: 1,
    });
    expect(withoutKey).toMatchObject(expectedProblem(400, /Idempotency-Key is required/));
    for (const key of ['', ' ', 'x'.repeat(101)])
      expect((await backOffice.refund(paymentReference, { amount: 1 }, key)).status).toBe(400);
    expect((await backOffice.refund(paymentReference, { amount: 1 }, 'x'.repeat(100))).status).toBe(201);
  });

  test('identifies one refund: a retry returns the current state of the refund, even if nothing is left to refund', async () => {
    const { paymentReference } = await createPaidPayment();
    const key = randomUUID();
    const first = await backOffice.refund(paymentReference, { amount: 12_345 }, key);
    const retried = await backOffice.refund(paymentReference.toLowerCase(), { amount: 12_345 }, key);
    expect(retried).toMatchObject({ status: 200, body: first.body, headers: { 'idempotency-replayed': 'true' } });
    expect(first.headers).not.toHaveProperty('idempotency-replayed');
    expect((await readRefundRecords(processor, paymentReference)).bank).toHaveLength(1);
  });

  test('is rejected with 409 if it is reused for another payment, amount or reason, and nothing is refunded', async () => {
    const [payment, otherPayment] = [await createPaidPayment(), await createPaidPayment()];
    const key = randomUUID();
    await backOffice.refund(payment.paymentReference, { amount: 100, reason: 'broken' }, key);
    for (const [svcId, body] of [
      [otherPayment.paymentReference, { amount: 100, reason: 'broken' }],
      [payment.paymentReference, { amount: 101, reason: 'broken' }],
      [payment.paymentReference, { amount: 100, reason: 'late' }],
      [payment.paymentReference, { amount: 100 }],
    ] as const)
      expect(await backOffice.refund(svcId, body, key)).toMatchObject(expectedProblem(409, /different content/));
    expect((await readRefundRecords(processor, otherPayment.paymentReference)).refunds).toEqual([]);
    expect((await readRefundRecords(processor, payment.paymentReference)).bank).toHaveLength(1);
  });

  test('is unique for each merchant and mode', async () => {
    const key = randomUUID();
    const { paymentReference } = await createPaidPayment();
    const live = await createPaidPayment({ mode: 'live' });
    const liveBackOffice = await createRefundClient(processor, { merchantId, mode: 'live' });
    const site = await createRefundClient(processor, { merchantId, siteId: 5001 });
    expect((await backOffice.refund(paymentReference, { amount: 100 }, key)).status).toBe(201);
    expect((await liveBackOffice.refund(live.paymentReference, { amount: 100 }, key)).status).toBe(201);
    expect((await site.refund(paymentReference, { amount: 100 }, key)).status).toBe(200);
    merchant = { ...merchant, merchantId: ++merchantId };
    const otherMerchantClient = await createRefundClient(processor, { merchantId });
    expect(
      (await otherMerchantClient.refund((await createPaidPayment()).paymentReference, { amount: 100 }, key)).status,
    ).toBe(201);
  });

  test('is also unique for each merchant and mode while the refunds are being created', async () => {
    const key = randomUUID();
    const own = await createPaidPayment();
    const live = await createPaidPayment({ mode: 'live' });
    const liveBackOffice = await createRefundClient(processor, { merchantId, mode: 'live' });
    const ownBackOffice = backOffice;
    merchant = { ...merchant, merchantId: ++merchantId };
    const otherMerchantClient = await createRefundClient(processor, { merchantId });
    const other = await createPaidPayment();
    const responses = await Promise.all([
      ownBackOffice.refund(own.paymentReference, { amount: 100 }, key),
      liveBackOffice.refund(live.paymentReference, { amount: 100 }, key),
      otherMerchantClient.refund(other.paymentReference, { amount: 100 }, key),
    ]);
    expect(responses.map(({ status }) => status)).toEqual([201, 201, 201]);
  });

  test('can be used again after its refund was rejected', async () => {
    const { paymentReference } = await createPaidPayment();
    const key = randomUUID();
    expect((await backOffice.refund(paymentReference, { amount: 12_346 }, key)).status).toBe(422);
    expect((await backOffice.refund(paymentReference, { amount: 12_345 }, key)).status).toBe(201);
  });
});

test.each([
  [{}, 'amount'],
  [{ amount: 0 }, 'amount'],
  [{ amount: -1 }, 'amount'],
  [{ amount: 1.5 }, 'amount'],
  [{ amount: '100' }, 'amount'],
  [{ amount: 100_000_000_001 }, 'amount'],
  [{ amount: 1, reason: '' }, 'reason'],
  [{ amount: 1, reason: 'x'.repeat(201) }, 'reason'],
  [{ amount: 1, reason: 7 }, 'reason'],
])('a refund with the body %j is rejected with a 400 that names the field %s', async (body, field) => {
  const { paymentReference } = await createPaidPayment();
  expect(await backOffice.refund(paymentReference, body)).toMatchObject(expectedProblem(400, /./, field));
});
