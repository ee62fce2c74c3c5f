import fc from 'fast-check';
import type { RefundQueryResult } from '../acquirers/acquirer.js';
import {
  conclude,
  fingerprintOf,
  isMissing,
  nextQueryAt,
  QUERY_AFTER_MS,
  QUERY_INTERVAL_MS,
  REFUND_TRANSITIONS,
  refundableAmount,
  type RefundablePayment,
  refundRefusal,
} from './refund.js';

const PAID: RefundablePayment = {
  paymentMethodType: 'Card',
  processedAmount: 1_000,
  refundedAmount: 0,
  pendingAmount: 0,
};

describe('the refundable amount', () => {
  test.each<[Partial<RefundablePayment>, number, string | undefined]>([
    [{}, 1_000, undefined],
    [{}, 1, undefined],
    [{}, 1_001, 'refund.amount-exceeded'],
    [{ refundedAmount: 400 }, 600, undefined],
    [{ refundedAmount: 400 }, 601, 'refund.amount-exceeded'],
    [{ pendingAmount: 400 }, 600, undefined],
    [{ pendingAmount: 400 }, 601, 'refund.amount-exceeded'],
    [{ refundedAmount: 300, pendingAmount: 700 }, 1, 'refund.amount-exceeded'],
    [{ paymentMethodType: 'External' }, 1, 'refund.not-possible'],
    [{ paymentMethodType: 'Voucher', processedAmount: 0 }, 1, 'refund.not-possible'],
    [{ processedAmount: 0 }, 1, 'refund.not-possible'],
  ])('the payment %j, a refund of %i: the rejection is %s', (over, amount, refusal) => {
    expect(refundRefusal({ ...PAID, ...over }, amount)).toBe(refusal);
  });

  test('is exactly the highest amount that is not rejected, after any earlier refunds', () => {
    const cents = fc.integer({ min: 0, max: 100_000_000_000 });
    fc.assert(
      fc.property(cents, cents, cents, cents, (processed, refundedShare, pendingShare, amount) => {
        const refundedAmount = refundedShare % (processed + 1);
        const pendingAmount = pendingShare % (processed - refundedAmount + 1);
        const payment = { ...PAID, processedAmount: processed, refundedAmount, pendingAmount };
        const isRefused = refundRefusal(payment, amount + 1) !== undefined;
        expect(isRefused).toBe(refundedAmount + pendingAmount + amount + 1 > processed);
        expect(refundableAmount(payment)).toBe(processed - refundedAmount - pendingAmount);
      }),
    );
  });

  test('is 0 for a payment that cannot be refunded', () => {
    expect(refundableAmount({ ...PAID, paymentMethodType: 'External' })).toBe(0);
    expect(refundableAmount({ ...PAID, processedAmount: 0 })).toBe(0);
  });

  /** Steps of many refunds of one payment in any order, as in the statements of the repository. */
  test('in any order of decisions and answers, refunds never exceed the processed amount, and a failed one releases its amount', () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('decide' as const), amount: fc.integer({ min: 1, max: 700 }) }),
      fc.record({
        kind: fc.constant('answer' as const),
        which: fc.nat(20),
        answer: fc.constantFrom('succeeded' as const, 'declined' as const, 'unknown' as const, 'pending' as const),
      }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let payment = PAID;
        const refunds: { amount: number; state: keyof typeof REFUND_TRANSITIONS }[] = [];
        for (const each of steps) {
          if (each.kind === 'decide') {
            if (refundRefusal(payment, each.amount)) continue;
            payment = { ...payment, pendingAmount: payment.pendingAmount + each.amount };
            refunds.push({ amount: each.amount, state: 'pending' });
          } else {
            const refund = refunds[each.which];
            const conclusion = refund && conclude(refund.state, outcome(each.answer));
            if (conclusion?.kind !== 'end') continue;
            payment = {
              ...payment,
              pendingAmount: payment.pendingAmount - refund!.amount,
              refundedAmount: payment.refundedAmount + (conclusion.state === 'succeeded' ? refund!.amount : 0),
            };
            refund!.state = conclusion.state;
          }
          const sumOf = (state: string) =>
            refunds.filter((one) => one.state === state).reduce((sum, { amount }) => sum + amount, 0);
          expect([payment.refundedAmount, payment.pendingAmount]).toEqual([sumOf('succeeded'), sumOf('pending')]);
          expect(payment.refundedAmount + payment.pendingAmount).toBeLessThanOrEqual(payment.processedAmount);
        }
      }),
    );
  });
});

function outcome(kind: RefundQueryResult['kind']): RefundQueryResult {
  return kind === 'succeeded' || kind === 'declined' ? { kind, acquirerReference: 'r-1' } : { kind };
}

describe('the effect of a response of the acquirer', () => {
  const end = (state: 'succeeded' | 'failed') => ({ kind: 'end', state, acquirerReference: 'r-1' }) as const;
  const [queryAgain, none, incident] = [{ kind: 'queryAgain' }, { kind: 'none' }, { kind: 'incident' }] as const;
  const EFFECTS = {
    succeeded: { pending: end('succeeded'), succeeded: none, failed: incident },
    declined: { pending: end('failed'), succeeded: incident, failed: none },
    pending: { pending: queryAgain, succeeded: none, failed: none },
    unknown: { pending: queryAgain, succeeded: none, failed: none },
    notFound: { pending: queryAgain, succeeded: none, failed: none },
  } as const;
  const pairs = Object.entries(EFFECTS).flatMap(([answer, effects]) =>
    Object.entries(effects).map(([state, effect]) => [answer, state, effect] as const),
  );

  test.each(pairs)('the response %s for a refund that is %s', (answer, state, effect) => {
    expect(conclude(state as 'pending', outcome(answer as 'unknown'))).toEqual(effect);
  });

  test('ends a refund only by a listed transition', () => {
    const ends = pairs.flatMap(([, state, effect]) => (effect.kind === 'end' ? [`${state} → ${effect.state}`] : []));
    const listed = Object.entries(REFUND_TRANSITIONS).flatMap(([from, next]) => next.map((to) => `${from} → ${to}`));
    expect(ends.toSorted()).toEqual(listed.toSorted());
  });
});

describe('queries to the acquirer', () => {
  const createdAt = new Date('2026-03-01T10:00:00.000Z');
  const after = (ms: number) => new Date(createdAt.getTime() + ms);

  test('are due after 2 s, 10 s, 1 min and 5 min, and then every 5 min without an end', () => {
    const times = QUERY_AFTER_MS.map(
      (_, asked) => nextQueryAt(createdAt, asked, createdAt).getTime() - createdAt.getTime(),
    );
    expect(times).toEqual([2_000, 10_000, 60_000, 300_000]);
    for (const asked of [4, 5, 1_000_000])
      expect(nextQueryAt(createdAt, asked, after(86_400_000))).toEqual(after(86_400_000 + QUERY_INTERVAL_MS));
  });

  test('are never due in the past', () => expect(nextQueryAt(createdAt, 1, after(11_000))).toEqual(after(11_000)));

  test('a refund that is not found is resent only after its first call has ended', () => {
    expect([9_999, 10_000].map((ageMs) => isMissing({ kind: 'notFound' }, ageMs))).toEqual([false, true]);
    for (const kind of ['succeeded', 'declined', 'pending', 'unknown'] as const)
      expect(isMissing(outcome(kind), 86_400_000)).toBe(false);
  });
});

test('a fingerprint depends on payment, amount and reason', () => {
  const prints = [
    fingerprintOf('P1', 100, undefined),
    fingerprintOf('P2', 100, undefined),
    fingerprintOf('P1', 101, undefined),
    fingerprintOf('P1', 100, 'broken'),
    fingerprintOf('P1', 100, 'late'),
  ];
  expect(new Set(prints).size).toBe(prints.length);
  expect(fingerprintOf('P1', 100, undefined)).toBe(prints[0]);
  expect(prints[0]).toMatch(/^[0-9a-f]{64}$/);
});
