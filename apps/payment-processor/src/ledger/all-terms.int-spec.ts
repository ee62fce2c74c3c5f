/**
 * One payment whose amounts all differ and none of which is 0: amount, tip, vouchers of both kinds, a fee in basis
 * points and a fixed fee, earlier refunds that succeeded, failed and are pending, and a dispute that was debited, reversed
 * and debited again. A rule that omits one of them, or takes one for another, gives another result.
 */
import { randomUUID } from 'node:crypto';
import { PaymentSucceededV1, RefundSucceededV1 } from '@svc/contracts';
import { httpClient } from '@svc/testing';
import { readLedger } from '../../test/books/ledger.js';
import { readRefundRecords } from '../../test/books/refund-books.js';
import { TestDispute } from '../../test/disputes.js';
import { createRefundClient, type RefundClient } from '../../test/merchant-key.js';
import { createMerchant, createPartner, openInvoice, type PartnerUnderTest } from '../../test/partner.js';
import { type Processor, readBankRecords, startProcessor } from '../../test/processor.js';
import { RefundRepository } from '../refunds/refund.repository.js';

const AMOUNT = 20_000;
const TIP = 1_700;
const MERCHANT_VOUCHER = 3_300;
const SERVICE_VOUCHERS = [4_000, 107];
const SERVICE_VOUCHERS_TOTAL = 4_107;
/** 20 000 + 1 700 − 3 300 − 4 107. */
const PROCESSED = 14_293;
/** 2.9 % of 14 293 cents are 414.497 cents, which is rounded, and R 1.51. */
const FEE = 414 + 151;
const REFUNDED = 2_100;
const PENDING = 1_900;
const FAILED = 900;
const REFUNDABLE = PROCESSED - REFUNDED - PENDING;

const TERMS = {
  tipAmount: TIP,
  vouchers: [
    { merchantLiable: true, amount: MERCHANT_VOUCHER },
    ...SERVICE_VOUCHERS.map((amount) => ({ merchantLiable: false, amount })),
  ],
};

let processor: Processor;
let partner: PartnerUnderTest;
let merchant: { merchantId: number; siteId: number };
let backOffice: RefundClient;
let payable: string;
beforeAll(async () => {
  processor = await startProcessor();
});
afterAll(() => processor.stop());
beforeEach(async () => {
  partner = await createPartner(processor);
  merchant = await createMerchant(processor, {
    features: { tip: { enabled: true } },
    grants: [{ organisationId: partner.organisationId, vouchers: true, externalPayments: true }],
    fees: { test: { basisPoints: 290, fixedAmount: 151 } },
  });
  backOffice = await createRefundClient(processor, { merchantId: merchant.merchantId });
  payable = `test:merchant:${merchant.merchantId}:payable`;
});
afterEach(() => jest.restoreAllMocks());

interface PaidPayment {
  readonly paymentReference: string;
}

async function pay(overrides: Record<string, unknown> = {}): Promise<PaidPayment> {
  const invoice = await openInvoice(processor, { ...merchant, amount: AMOUNT });
  const { status, body } = await partner.pay(invoice, { ...TERMS, ...overrides });
  expect([status, body.tipAmount]).toEqual([201, TIP]);
  return body as PaidPayment;
}

const voucherTransfers = () => [
  ...SERVICE_VOUCHERS.map((amount) => ({ kind: 'voucher', debit: 'test:service:vouchers', credit: payable, amount })),
  {
    kind: 'voucher',
    debit: `test:merchant:${merchant.merchantId}:vouchers`,
    credit: `test:merchant:${merchant.merchantId}:redeemed`,
    amount: MERCHANT_VOUCHER,
  },
];
const readTransfers = async (payment: PaidPayment) =>
  (await readLedger(processor, payment)).toSorted(
    (a, b) =>
      a.kind.localeCompare(b.kind) || Number(a.debit < b.debit) - Number(a.debit > b.debit) || b.amount - a.amount,
  );
const readStatement = async () => {
  const url = `/business/api/v1/merchants/${merchant.merchantId}/settlements/${processor.clock.nowISO().slice(0, 10)}`;
  return (await httpClient(processor.service, { 'x-api-key': backOffice.apiKey })('GET', url)).body.totals;
};
const noItem = { count: 0, amount: 0 };

/** Creates a refund whose call to the acquirer has this result. */
async function refund({ paymentReference }: PaidPayment, amount: number, kind: 'succeeded' | 'declined' | 'pending') {
  const acquirer = processor.acquirer;
  const result = kind === 'pending' ? { kind } : { kind, acquirerReference: randomUUID() };
  jest.spyOn(acquirer, 'refund').mockResolvedValueOnce(result);
  // A refund that is pending for 20 s is returned as pending. The clock of the test reaches this time at once.
  jest.spyOn(acquirer, 'getRefundStatus').mockImplementation(() => {
    processor.clock.advance(20_000);
    return Promise.resolve({ kind: 'pending' });
  });
  const response = await backOffice.refund(paymentReference, { amount });
  expect(response.status).toBe(kind === 'pending' ? 202 : 201);
}

test('a card is charged the amount and the tip without the vouchers; the event, the ledger and the statement agree', async () => {
  const payment = await pay();
  expect(payment).toMatchObject({ processedAmount: PROCESSED });
  const charges = readBankRecords(processor).filter((line) => line['paymentReference'] === payment.paymentReference);
  expect(charges.map(({ amount }) => amount)).toEqual(charges.map(() => PROCESSED));
  const event = (await processor.published(PaymentSucceededV1)).at(-1)!;
  expect(event.payload).toMatchObject({ amount: AMOUNT, processedAmount: PROCESSED, ...TERMS });
  expect(await readTransfers(payment)).toEqual([
    { kind: 'capture', debit: 'test:acquirer:simulated:receivable', credit: payable, amount: PROCESSED },
    { kind: 'fee', debit: payable, credit: 'test:service:fees', amount: FEE },
    ...voucherTransfers(),
  ]);
  expect(await readStatement()).toEqual([
    {
      currencyISOCode: 'ZAR',
      payments: { count: 1, amount: PROCESSED },
      vouchers: { count: 2, amount: SERVICE_VOUCHERS_TOTAL },
      externalPayments: noItem,
      refunds: noItem,
      fees: { count: 1, amount: FEE },
      disputes: { count: 0, amount: 0 },
      disputeReversals: { count: 0, amount: 0 },
      ...{ reversals: noItem, refundReturns: noItem, feeReversals: noItem },
      net: PROCESSED + SERVICE_VOUCHERS_TOTAL - FEE,
    },
  ]);
});

test('an external payment covers the amount and the tip without the vouchers, and has no fee', async () => {
  const payment = await pay({
    paymentMethod: { external: { type: 'EFT', status: 'success', reference: 'bank-1' } },
  });
  expect(payment).toMatchObject({ processedAmount: PROCESSED });
  const debit = `test:organisation:${partner.organisationId}:receivable`;
  expect(await readTransfers(payment)).toEqual([
    { kind: 'external', debit, credit: payable, amount: PROCESSED },
    ...voucherTransfers(),
  ]);
  expect(await readStatement()).toMatchObject([
    { externalPayments: { count: 1, amount: PROCESSED }, net: PROCESSED + SERVICE_VOUCHERS_TOTAL },
  ]);
});

test('a late approval is booked with the amount that was charged, and so is its reversal', async () => {
  const acquirer = processor.acquirer;
  const charge = acquirer.charge.bind(acquirer);
  // The bank confirms that it will never charge, and charges nevertheless.
  jest.spyOn(acquirer, 'getChargeStatus').mockResolvedValue({ kind: 'notFound' });
  jest.spyOn(acquirer, 'reverse').mockResolvedValueOnce({ kind: 'neverCharged' });
  jest.spyOn(acquirer, 'charge').mockImplementation(async (request, signal) => {
    processor.clock.advance(10_000);
    await processor.recoverAttempts();
    return charge(request, signal);
  });
  const payment = await pay();
  jest.restoreAllMocks();
  expect(payment).toMatchObject({ status: 'failed', processedAmount: 0 });
  processor.clock.advance(30_000);
  await processor.runCleanup();
  const [receivable, reversals] = ['test:acquirer:simulated:receivable', 'test:acquirer:simulated:reversals'];
  expect(await readTransfers(payment)).toEqual([
    { kind: 'lateApproval', debit: receivable, credit: reversals, amount: PROCESSED },
    { kind: 'reversal', debit: reversals, credit: receivable, amount: PROCESSED },
  ]);
});

test('a refund can return the whole charge, also if the tip makes it larger than the amount', async () => {
  const payment = await pay({ vouchers: [{ merchantLiable: false, amount: 340 }] });
  const charged = AMOUNT + TIP - 340;
  expect((await backOffice.refund(payment.paymentReference, { amount: charged + 1 })).status).toBe(422);
  expect((await backOffice.refund(payment.paymentReference, { amount: charged })).status).toBe(201);
  expect(await readRefundRecords(processor, payment.paymentReference)).toMatchObject({ refunded: charged, pending: 0 });
});

describe('refunds of a payment with a tip and vouchers', () => {
  let payment: PaidPayment;
  beforeEach(async () => {
    payment = await pay();
    await refund(payment, REFUNDED, 'succeeded');
    // Refunds are listed in the order of their times.
    processor.clock.advance(1);
    await refund(payment, FAILED, 'declined');
    processor.clock.advance(1);
    await refund(payment, PENDING, 'pending');
    jest.restoreAllMocks();
  });

  test('return at most the charge minus the refunds that succeeded or are pending', async () => {
    expect(await readRefundRecords(processor, payment.paymentReference)).toMatchObject({
      processed: PROCESSED,
      refunded: REFUNDED,
      pending: PENDING,
    });
    expect((await backOffice.refund(payment.paymentReference, { amount: REFUNDABLE + 1 })).status).toBe(422);
    expect((await backOffice.refund(payment.paymentReference, { amount: REFUNDABLE })).status).toBe(201);
    expect((await backOffice.refund(payment.paymentReference, { amount: 1 })).status).toBe(422);
    expect(await readRefundRecords(processor, payment.paymentReference)).toMatchObject({
      refunded: REFUNDED + REFUNDABLE,
      pending: PENDING,
    });
  });

  test('are refused by the database as well, if a refund was created after the payment was read', async () => {
    const refunds = processor.service.app.get(RefundRepository);
    const owner = { merchantId: merchant.merchantId, mode: 'test', siteId: undefined } as const;
    const found = (await refunds.findPayment(owner, payment.paymentReference))!;
    const create = (amount: number): Promise<unknown> =>
      refunds.create({
        owner,
        idempotencyKey: randomUUID(),
        fingerprint: 'f'.repeat(64),
        payment: { ...found, refundedAmount: 0, pendingAmount: 0 },
        amount,
        reason: undefined,
        requestedBy: backOffice.keyId,
      });
    expect(await create(REFUNDABLE + 1)).toBeUndefined();
    expect(await create(REFUNDABLE)).toMatchObject({ amount: REFUNDABLE });
    expect(await create(1)).toBeUndefined();
  });

  test('are booked with their own amounts when they succeed, and the statement contains all terms', async () => {
    const acquirer = processor.acquirer;
    jest.spyOn(acquirer, 'getRefundStatus').mockResolvedValue({ kind: 'succeeded', acquirerReference: randomUUID() });
    processor.clock.advance(300_000);
    await processor.recoverRefunds();
    expect(await readRefundRecords(processor, payment.paymentReference)).toMatchObject({
      refunded: REFUNDED + PENDING,
      pending: 0,
      ledger: [REFUNDED, PENDING].map((amount) => ({
        amount,
        debit: payable,
        credit: 'test:acquirer:simulated:receivable',
      })),
    });
    const events = (await processor.published(RefundSucceededV1)).map(({ payload }) => payload);
    expect(events.filter(({ paymentReference }) => paymentReference === payment.paymentReference)).toMatchObject([
      { processedAmount: PROCESSED, refund: { amount: REFUNDED } },
      { processedAmount: PROCESSED, refund: { amount: PENDING } },
    ]);
    // The whole charge with the tip and without the vouchers can be disputed, also after refunds.
    const dispute = new TestDispute(processor, { paymentReference: payment.paymentReference, mode: 'test' });
    expect(await dispute.report('debited', { amount: PROCESSED + 1 })).toMatchObject({
      problems: ['amountExceedsCharge'],
    });
    await dispute.report('debited', { amount: PROCESSED });
    await dispute.report('reversed', { amount: 2_207 });
    await dispute.report('debitedAgain', { amount: 1_103 });
    expect(await readStatement()).toEqual([
      {
        currencyISOCode: 'ZAR',
        payments: { count: 1, amount: PROCESSED },
        vouchers: { count: 2, amount: SERVICE_VOUCHERS_TOTAL },
        externalPayments: noItem,
        refunds: { count: 2, amount: REFUNDED + PENDING },
        fees: { count: 1, amount: FEE },
        disputes: { count: 2, amount: PROCESSED + 1_103 },
        disputeReversals: { count: 1, amount: 2_207 },
        ...{ reversals: noItem, refundReturns: noItem, feeReversals: noItem },
        net: PROCESSED + SERVICE_VOUCHERS_TOTAL - FEE - REFUNDED - PENDING - PROCESSED - 1_103 + 2_207,
      },
    ]);
  });
});
