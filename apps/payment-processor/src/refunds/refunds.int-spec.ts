import { randomUUID } from 'node:crypto';
import { type HostedPaymentSnapshot, RefundFailedV1, RefundSucceededV1 } from '@svc/contracts';
import { httpClient } from '@svc/testing';
import { aPayable } from '../../test/builders.js';
import { CARDS } from '../../test/encrypted-card.js';
import { aRefundClient, type RefundClient } from '../../test/merchant-key.js';
import { aMerchant, aPartner, openInvoice } from '../../test/partner.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { booksOf } from '../../test/refund-books.js';

let processor: Processor;
let merchant: { merchantId: number; siteId: number };
let office: RefundClient;
let merchantId = 80_000;
beforeAll(async () => {
  processor = await startProcessor({ SVC_ACQUIRER_LIVE: 'simulated' });
});
afterAll(() => processor.stop());
beforeEach(async () => {
  merchant = { merchantId: ++merchantId, siteId: 5001 };
  office = await aRefundClient(processor, { merchantId });
});

/** Of R 123.45. */
const aPaid = (
  over: { card?: string; siteId?: number; mode?: 'test' | 'live' } = {},
): Promise<HostedPaymentSnapshot> => {
  const { card, ...payable } = over;
  return processor.pay(aPayable({ ...merchant, ...payable }), card === undefined ? {} : { card });
};
const problem = (status: number, message: RegExp, field?: string) => ({
  status,
  body: { errors: [{ message: expect.stringMatching(message), ...(field === undefined ? {} : { field }) }] },
});
const eventsOf = async (
  type: typeof RefundSucceededV1,
  { paymentReference }: Pick<HostedPaymentSnapshot, 'paymentReference'>,
): Promise<unknown[]> => {
  const events = await processor.published(type);
  return events.filter(({ payload }) => payload.paymentReference === paymentReference).map(({ payload }) => payload);
};

describe('a refund (M5)', () => {
  test('returns money: at the bank, in the ledger, and with an event that contains the unchanged payment', async () => {
    const { payable: _, ...payment } = await aPaid();
    const { status, body, headers } = await office.refund(payment.paymentReference, { amount: 345, reason: 'broken' });
    expect([status, headers['cache-control']]).toEqual([201, 'no-store']);
    expect(body).toEqual({
      refundReference: expect.stringMatching(/^[0-9a-f-]{36}$/),
      svcId: payment.paymentReference,
      amount: 345,
      status: 'succeeded',
      createdUTCDate: processor.clock.nowISO(),
    });
    expect(await booksOf(processor, payment.paymentReference)).toEqual({
      processed: 12_345,
      refunded: 345,
      pending: 0,
      refunds: [{ amount: 345, state: 'succeeded', requestedBy: office.keyId }],
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
    expect(await eventsOf(RefundFailedV1, payment)).toEqual([]);
    expect(await eventsOf(RefundSucceededV1, payment)).toEqual([expect.objectContaining({ ...payment, refund })]);
  });

  test('may be partial, several times until nothing is left, and is listed, newest first', async () => {
    const { paymentReference } = await aPaid();
    const made = [];
    for (const amount of [5_000, 7_000, 345]) {
      made.push((await office.refund(paymentReference, { amount })).body);
      processor.clock.advance(1);
    }
    expect(await office.refund(paymentReference, { amount: 1 })).toMatchObject(problem(422, /more than what is left/));
    expect(await office.list(paymentReference)).toMatchObject({ status: 200, body: made.toReversed() });
    expect(await booksOf(processor, paymentReference)).toMatchObject({ refunded: 12_345, pending: 0 });
  });

  test('finds its payment by its reference in upper or lower case', async () => {
    const { paymentReference } = await aPaid();
    const { body } = await office.refund(paymentReference.toLowerCase());
    expect(body).toMatchObject({ svcId: paymentReference, status: 'succeeded' });
  });

  test('after a verification refunds the charge, not the attempt that required the verification', async () => {
    const payable = aPayable(merchant);
    const challenged = await processor.pay(payable, { card: CARDS.verified });
    await processor.answerChallenge(challenged, 'confirm');
    expect(await processor.check(payable)).toMatchObject([{ state: 'success' }]);
    const refunded = await office.refund(challenged.paymentReference);
    expect(refunded).toMatchObject({ status: 201, body: { status: 'succeeded' } });
    expect((await booksOf(processor, challenged.paymentReference)).bank).toHaveLength(1);
  });

  test('fails if the bank declines it: its amount is released, and an event is published', async () => {
    const payment = await aPaid({ card: CARDS.refundDeclined });
    const declined = await office.refund(payment.paymentReference, { amount: 12_345 });
    expect(declined).toMatchObject({ status: 201, body: { status: 'failed', amount: 12_345 } });
    expect(await booksOf(processor, payment.paymentReference)).toMatchObject({
      refunded: 0,
      pending: 0,
      refunds: [{ state: 'failed' }],
      ledger: [],
      events: 1,
    });
    expect(await eventsOf(RefundSucceededV1, payment)).toEqual([]);
    expect(await eventsOf(RefundFailedV1, payment)).toMatchObject([{ state: 'success', refund: { status: 'failed' } }]);
    // The whole amount can be refunded again.
    expect((await office.refund(payment.paymentReference, { amount: 12_345 })).status).toBe(201);
  });

  test('in live mode uses the live accounts of the bank and the ledger', async () => {
    const liveOffice = await aRefundClient(processor, { merchantId, mode: 'live' });
    const { paymentReference } = await aPaid({ mode: 'live' });
    expect(await liveOffice.refund(paymentReference)).toMatchObject({ status: 201, body: { status: 'succeeded' } });
    expect((await booksOf(processor, paymentReference)).ledger).toMatchObject([
      { debit: `live:merchant:${merchantId}:payable` },
    ]);
  });
});

describe('the service cannot refund', () => {
  test('an amount higher than the processed one', async () => {
    const { paymentReference } = await aPaid();
    expect(await office.refund(paymentReference, { amount: 12_346 })).toMatchObject(
      problem(422, /more than what is left/),
    );
    expect((await booksOf(processor, paymentReference)).refunds).toEqual([]);
  });

  test('a failed or unfinished payment', async () => {
    for (const card of [CARDS.declined, CARDS.verified, CARDS.dropsTheAnswer]) {
      const { paymentReference } = await aPaid({ card });
      expect(await office.refund(paymentReference)).toMatchObject(problem(422, /Only a payment that succeeded/));
    }
  });

  test('an amount covered by vouchers; only the part paid by card is refundable', async () => {
    const [own, partner] = [await grantedMerchant(), await aPartner(processor)];
    await own.grant(partner.organisationId);
    const voucher = (amount: number) => ({ vouchers: [{ merchantLiable: true, amount }] });
    const mixed = await partner.pay(await openInvoice(processor, own.site), voucher(12_000));
    const svcId = mixed.body.paymentReference as string;
    expect((await own.office.refund(svcId, { amount: 346 })).status).toBe(422);
    expect(await own.office.refund(svcId, { amount: 345 })).toMatchObject({
      status: 201,
      body: { status: 'succeeded' },
    });
    const whole = { ...voucher(12_345), paymentMethod: undefined };
    const covered = await partner.pay(await openInvoice(processor, own.site), whole);
    expect(await own.office.refund(covered.body.paymentReference)).toMatchObject(problem(422, /Vouchers covered/));
  });

  test('an external payment', async () => {
    const [own, partner] = [await grantedMerchant(), await aPartner(processor)];
    await own.grant(partner.organisationId);
    const external = { external: { type: 'EFT', status: 'success', reference: 'bank-1' } };
    const paid = await partner.pay(await openInvoice(processor, own.site), { paymentMethod: external });
    expect(await own.office.refund(paid.body.paymentReference)).toMatchObject(problem(422, /made elsewhere/));
  });

  async function grantedMerchant() {
    const site = await aMerchant(processor, { merchantId });
    const grant = async (organisationId: string): Promise<unknown> =>
      aMerchant(processor, { merchantId, grants: [{ organisationId, vouchers: true, externalPayments: true }] });
    return { site, grant, office };
  }
});

describe('access to refunds', () => {
  test('a site refunds its own payments, and finds no others', async () => {
    const [ours, theirs] = [await aPaid({ siteId: 5001 }), await aPaid({ siteId: 5002 })];
    const site = await aRefundClient(processor, { merchantId, siteId: 5001 });
    expect((await site.refund(ours.paymentReference)).status).toBe(201);
    expect((await site.list(ours.paymentReference)).body).toHaveLength(1);
    expect(await site.refund(theirs.paymentReference)).toMatchObject(problem(404, /no such payment/));
    expect((await site.list(theirs.paymentReference)).status).toBe(404);
    expect((await booksOf(processor, theirs.paymentReference)).refunds).toEqual([]);
  });

  test('an Idempotency-Key does not reveal the refund of another site', async () => {
    const theirs = await aPaid({ siteId: 5002 });
    const key = randomUUID();
    await office.refund(theirs.paymentReference, { amount: 100 }, key);
    const site = await aRefundClient(processor, { merchantId, siteId: 5001 });
    expect((await site.refund(theirs.paymentReference, { amount: 100 }, key)).status).toBe(404);
  });

  test('another merchant finds nothing, and may not use the path of this one', async () => {
    const { paymentReference } = await aPaid();
    const stranger = await aRefundClient(processor, { merchantId: merchantId + 500_000 });
    expect((await stranger.refund(paymentReference)).status).toBe(404);
    expect((await stranger.refund(paymentReference, { amount: 100 }, 'key', merchantId)).status).toBe(403);
  });

  test('a key of the other mode finds nothing', async () => {
    const [test, live] = [await aPaid(), await aPaid({ mode: 'live' })];
    const liveOffice = await aRefundClient(processor, { merchantId, mode: 'live' });
    expect((await liveOffice.refund(test.paymentReference)).status).toBe(404);
    expect((await office.refund(live.paymentReference)).status).toBe(404);
  });

  test('an unknown key is a 401 with an empty body, also if other fields are invalid', async () => {
    for (const headers of [{}, { 'x-api-key': 'svc_test_merchant_x' }]) {
      const { status, body } = await httpClient(processor.service, headers)(
        'POST',
        `/business/api/v1/merchants/${merchantId}/refunds`,
        { amount: 'x' },
      );
      expect([status, body]).toEqual([401, undefined]);
    }
  });

  test.each(['0123456789ABCDEFGH', 'x', '%00', 'X'.repeat(5_000)])('an unknown svcId, %j, is a 404', async (svcId) => {
    expect((await office.refund(svcId)).status).toBe(404);
    expect((await office.list(svcId)).status).toBe(404);
  });

  test('a svcId that is missing or given twice is a 400', async () => {
    const client = httpClient(processor.service, { 'x-api-key': office.apiKey, 'idempotency-key': 'k' });
    const path = `/business/api/v1/merchants/${merchantId}/refunds`;
    for (const query of ['', '?svcId=', '?svcId=a&svcId=b'])
      for (const method of ['GET', 'POST'] as const)
        expect(await client(method, path + query, method === 'POST' ? { amount: 1 } : undefined)).toMatchObject(
          problem(400, /given once/, 'svcId'),
        );
  });
});

describe('the Idempotency-Key (C7)', () => {
  test('is required, and has 1 to 100 characters', async () => {
    const { paymentReference } = await aPaid();
    const path = `/business/api/v1/merchants/${merchantId}/refunds?svcId=${paymentReference}`;
    const without = await httpClient(processor.service, { 'x-api-key': office.apiKey })('POST', path, { amount: 1 });
    expect(without).toMatchObject(problem(400, /Idempotency-Key is required/));
    for (const key of ['', ' ', 'x'.repeat(101)])
      expect((await office.refund(paymentReference, { amount: 1 }, key)).status).toBe(400);
    expect((await office.refund(paymentReference, { amount: 1 }, 'x'.repeat(100))).status).toBe(201);
  });

  test('belongs to one refund: a retry returns its current state, even if nothing is left to refund', async () => {
    const { paymentReference } = await aPaid();
    const key = randomUUID();
    const first = await office.refund(paymentReference, { amount: 12_345 }, key);
    const again = await office.refund(paymentReference.toLowerCase(), { amount: 12_345 }, key);
    expect(again).toMatchObject({ status: 200, body: first.body, headers: { 'idempotency-replayed': 'true' } });
    expect(first.headers).not.toHaveProperty('idempotency-replayed');
    expect((await booksOf(processor, paymentReference)).bank).toHaveLength(1);
  });

  test('with another payment, amount or reason is a 409, and nothing is refunded', async () => {
    const [payment, other] = [await aPaid(), await aPaid()];
    const key = randomUUID();
    await office.refund(payment.paymentReference, { amount: 100, reason: 'broken' }, key);
    for (const [svcId, body] of [
      [other.paymentReference, { amount: 100, reason: 'broken' }],
      [payment.paymentReference, { amount: 101, reason: 'broken' }],
      [payment.paymentReference, { amount: 100, reason: 'late' }],
      [payment.paymentReference, { amount: 100 }],
    ] as const)
      expect(await office.refund(svcId, body, key)).toMatchObject(problem(409, /different content/));
    expect((await booksOf(processor, other.paymentReference)).refunds).toEqual([]);
    expect((await booksOf(processor, payment.paymentReference)).bank).toHaveLength(1);
  });

  test('has the scope of merchant and mode', async () => {
    const key = randomUUID();
    const { paymentReference } = await aPaid();
    const live = await aPaid({ mode: 'live' });
    const liveOffice = await aRefundClient(processor, { merchantId, mode: 'live' });
    const site = await aRefundClient(processor, { merchantId, siteId: 5001 });
    expect((await office.refund(paymentReference, { amount: 100 }, key)).status).toBe(201);
    expect((await liveOffice.refund(live.paymentReference, { amount: 100 }, key)).status).toBe(201);
    expect((await site.refund(paymentReference, { amount: 100 }, key)).status).toBe(200);
    merchant = { ...merchant, merchantId: ++merchantId };
    const stranger = await aRefundClient(processor, { merchantId });
    expect((await stranger.refund((await aPaid()).paymentReference, { amount: 100 }, key)).status).toBe(201);
  });

  test('of a rejected refund is free again', async () => {
    const { paymentReference } = await aPaid();
    const key = randomUUID();
    expect((await office.refund(paymentReference, { amount: 12_346 }, key)).status).toBe(422);
    expect((await office.refund(paymentReference, { amount: 12_345 }, key)).status).toBe(201);
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
])('a 400 names the invalid field of %j', async (body, field) => {
  const { paymentReference } = await aPaid();
  expect(await office.refund(paymentReference, body)).toMatchObject(problem(400, /./, field));
});
