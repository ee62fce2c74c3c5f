import type { MerchantPayment } from '@svc/sdk';
import { findRepeatedRefund, isRefundAmount, type Refund, findRefusalReason, REPEAT_WINDOW_MS } from './refund.js';

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

describe('T10: a request repeats an earlier refund', () => {
  it.each<[string, Partial<Refund>, string | undefined, boolean]>([
    ['of the same payment and amount', {}, undefined, true],
    ['at two minutes', { createdAt: timeBeforeNow(REPEAT_WINDOW_MS) }, undefined, true],
    ['after two minutes', { createdAt: timeBeforeNow(REPEAT_WINDOW_MS + 1) }, undefined, false],
    ['of another amount', { amountCents: 101 }, undefined, false],
    ['of another payment', { svcId: 'B' }, undefined, false],
    ['that is queued, however old', { state: 'queued', createdAt: timeBeforeNow(1e9) }, undefined, true],
    ['that is pending, however old', { state: 'pending', createdAt: timeBeforeNow(1e9) }, undefined, true],
    ['that the bank declined', { state: 'failed' }, undefined, true],
    ['that was refused', { state: 'refused' }, undefined, true],
    [
      'that the bank declined, after two minutes',
      { state: 'failed', createdAt: timeBeforeNow(REPEAT_WINDOW_MS + 1) },
      undefined,
      false,
    ],
    [
      'that was refused, after two minutes',
      { state: 'refused', createdAt: timeBeforeNow(REPEAT_WINDOW_MS + 1) },
      undefined,
      false,
    ],
    ['that had a reference, without one', { reference: 'R' }, undefined, true],
    ['without a reference, with one', {}, 'R', false],
    ['of another reference', { reference: 'R' }, 'S', false],
    ['of the same reference, however old', { reference: 'R', createdAt: timeBeforeNow(1e9) }, 'R', true],
    ['of the same reference, also declined', { reference: 'R', state: 'failed' }, 'R', true],
    ['of the same reference, whatever it is of', { reference: 'R', svcId: 'B' }, 'R', true],
  ])('%s', (_, changes, reference, isRepeat) => {
    expect(findRepeatedRefund(newRefund(reference), [earlierRefund(changes)], NOW) !== undefined).toBe(isRepeat);
  });

  it('repeats the newest of several earlier refunds', () => {
    const [first, second] = [earlierRefund(), earlierRefund({ refundId: 2 })];
    expect(findRepeatedRefund(newRefund(), [second, first], NOW)).toBe(second);
  });
});

describe('T10: the refundable amount', () => {
  const payment = {
    paymentReference: 'A',
    status: 'Success',
    tenderedAmount: 500,
    vouchers: [{ merchantLiable: true, amount: 100 }],
  } as unknown as MerchantPayment;

  it.each<[string, Refund[], number, ReturnType<typeof findRefusalReason>]>([
    ['all that was processed', [], 400, undefined],
    ['more than was processed', [], 401, 'amount-exceeded'],
    ['the rest', [earlierRefund(), earlierRefund({ state: 'queued' })], 200, undefined],
    ['more than the rest', [earlierRefund(), earlierRefund({ state: 'pending' })], 201, 'amount-exceeded'],
    ['unsuccessful refunds do not count', [earlierRefund({ state: 'failed' }), earlierRefund({ state: 'refused' })], 400, undefined],
    ['refunds of other payments do not count', [earlierRefund({ svcId: 'B' })], 400, undefined],
  ])('%s', (_, earlier, amount, refusal) => expect(findRefusalReason(payment, earlier, amount)).toBe(refusal));

  it('is 0 for a failed payment', () => {
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
])('T10: %d cents are refundable: %s', (amount, isOne) => expect(isRefundAmount(amount)).toBe(isOne));
