import type { MerchantPayment } from '@svc/sdk';
import { findRefusalReason, findRepeatedRefund, isRefundAmount, type Refund, REPEAT_WINDOW_MS } from './refund.js';

const NOW = new Date('2026-03-01T10:00:00.000Z');
const timeBeforeNow = (milliseconds: number): string => new Date(NOW.getTime() - milliseconds).toISOString();
const earlierRefund = (changes: Partial<Refund> = {}): Refund => ({
  refundId: 1,
  siteId: 5001,
  svcId: 'A',
  amountCents: 100,
  reference: null,
  idempotencyKey: 'k',
  state: 'succeeded',
  refusal: null,
  createdAt: timeBeforeNow(1_000),
  ...changes,
});
const newRefund = (reference?: string) => ({ svcId: 'A', amountCents: 100, reference });

const AT_TWO_MINUTES = { createdAt: timeBeforeNow(REPEAT_WINDOW_MS) };
const AFTER_TWO_MINUTES = { createdAt: timeBeforeNow(REPEAT_WINDOW_MS + 1) };
const LONG_AGO = { createdAt: timeBeforeNow(1e9) };

describe('T10: findRepeatedRefund', () => {
  it.each<[string, Partial<Refund>]>([
    ['of the same payment and amount', {}],
    ['created two minutes ago', AT_TWO_MINUTES],
    ['that has been queued for a long time', { state: 'queued', ...LONG_AGO }],
    ['that has been pending for a long time', { state: 'pending', ...LONG_AGO }],
    ['that the bank declined', { state: 'failed' }],
    ['that was refused', { state: 'refused' }],
    ['that has a RefundReference', { reference: 'R' }],
  ])('a request without RefundReference repeats a refund %s', (_, changes) => {
    expect(findRepeatedRefund(newRefund(), [earlierRefund(changes)], NOW)).toBeDefined();
  });

  it.each<[string, Partial<Refund>]>([
    ['created more than two minutes ago', AFTER_TWO_MINUTES],
    ['of another amount', { amountCents: 101 }],
    ['of another payment', { svcId: 'B' }],
    ['that the bank declined more than two minutes ago', { state: 'failed', ...AFTER_TWO_MINUTES }],
    ['that was refused more than two minutes ago', { state: 'refused', ...AFTER_TWO_MINUTES }],
  ])('a request without RefundReference does not repeat a refund %s', (_, changes) => {
    expect(findRepeatedRefund(newRefund(), [earlierRefund(changes)], NOW)).toBeUndefined();
  });

  it.each<[string, Partial<Refund>]>([
    ['of any age', LONG_AGO],
    ['that the bank declined', { state: 'failed' }],
    ['of another payment', { svcId: 'B' }],
  ])('a request with a RefundReference repeats a refund with this reference %s', (_, changes) => {
    expect(findRepeatedRefund(newRefund('R'), [earlierRefund({ reference: 'R', ...changes })], NOW)).toBeDefined();
  });

  it.each<[string, string | null]>([
    ['without a reference', null],
    ['with another reference', 'S'],
  ])('a request with a RefundReference does not repeat a refund %s', (_, reference) => {
    expect(findRepeatedRefund(newRefund('R'), [earlierRefund({ reference })], NOW)).toBeUndefined();
  });

  it('returns the newest of several earlier refunds', () => {
    const [first, second] = [earlierRefund(), earlierRefund({ refundId: 2 })];
    for (const earlier of [
      [first, second],
      [second, first],
    ])
      expect(findRepeatedRefund(newRefund(), earlier, NOW)).toBe(second);
  });
});

describe('T10: findRefusalReason', () => {
  const payment = {
    paymentReference: 'A',
    status: 'Success',
    tenderedAmount: 500,
    vouchers: [{ merchantLiable: true, amount: 100 }],
  } as unknown as MerchantPayment;

  // 400 of the 500 cents were processed: the tendered amount minus the voucher. Each earlier refund is of 100 cents.
  it.each<[string, Refund[], number, ReturnType<typeof findRefusalReason>]>([
    ['accepts the whole processed amount', [], 400, undefined],
    ['refuses more than the processed amount', [], 401, 'amount-exceeded'],
    ['accepts the remaining amount', [earlierRefund(), earlierRefund({ state: 'queued' })], 200, undefined],
    [
      'refuses more than the remaining amount',
      [earlierRefund(), earlierRefund({ state: 'pending' })],
      201,
      'amount-exceeded',
    ],
    [
      'ignores unsuccessful refunds',
      [earlierRefund({ state: 'failed' }), earlierRefund({ state: 'refused' })],
      400,
      undefined,
    ],
    ['ignores refunds of other payments', [earlierRefund({ svcId: 'B' })], 400, undefined],
  ])('%s', (_, earlier, amount, reason) => expect(findRefusalReason(payment, earlier, amount)).toBe(reason));

  it('refuses a refund of a failed payment', () => {
    expect(findRefusalReason({ ...payment, status: 'Failed' }, [], 1)).toBe('payment-failed');
  });
});

test.each([
  [1, true],
  [100_000_000_000, true],
  [100_000_000_001, false],
  [0, false],
  [-0, false],
  [-1, false],
  [1.5, false],
  [1e300, false],
])('T10: isRefundAmount(%d) is %s', (amount, expected) => expect(isRefundAmount(amount)).toBe(expected));
