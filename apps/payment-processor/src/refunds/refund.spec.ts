import fc from 'fast-check';
import {
  type AcquirerRefundResponse,
  computeFingerprint,
  conclude,
  findRefundRefusal,
  isRefundMissing,
  limitRefunds,
  nextQueryAt,
  QUERY_AFTER_MS,
  QUERY_INTERVAL_MS,
  REFUND_TRANSITIONS,
  refundableAmount,
  type RefundablePayment,
  sendableMs,
} from './refund.js';

const PAID_PAYMENT: RefundablePayment = {
  paymentMethodType: 'Card',
  processedAmount: 1_000,
  refundedAmount: 0,
  pendingAmount: 0,
  capture: 'captured',
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
  ])('(payment %j) leads for a refund of %i to the refusal %s', (overrides, amount, expected) => {
    expect(findRefundRefusal({ ...PAID_PAYMENT, ...overrides }, amount)).toBe(expected);
  });

  test('is the highest amount that is not rejected, after any earlier refunds', () => {
    const cents = fc.integer({ min: 0, max: 100_000_000_000 });
    fc.assert(
      fc.property(cents, cents, cents, cents, (processed, refundedShare, pendingShare, amount) => {
        const refundedAmount = refundedShare % (processed + 1);
        const pendingAmount = pendingShare % (processed - refundedAmount + 1);
        const payment = { ...PAID_PAYMENT, processedAmount: processed, refundedAmount, pendingAmount };
        const isRejected = findRefundRefusal(payment, amount + 1) !== undefined;
        expect(isRejected).toBe(refundedAmount + pendingAmount + amount + 1 > processed);
        expect(refundableAmount(payment)).toBe(processed - refundedAmount - pendingAmount);
      }),
    );
  });

  test.each<[number | undefined, number, number]>([
    [undefined, 0, 1_000],
    [600, 0, 600],
    [600, 400, 200],
    [600, 700, 0],
    [2_000, 0, 1_000],
  ])('of a person who may refund %p cents is, after refunds of %i, %i', (limit, pendingAmount, expected) => {
    const limited = limitRefunds({ ...PAID_PAYMENT, pendingAmount }, limit);
    expect(refundableAmount(limited)).toBe(expected);
    expect(findRefundRefusal(limited, expected + 1)).toBe('refund.amount-exceeded');
  });

  test('is 0 for a payment that cannot be refunded', () => {
    expect(refundableAmount({ ...PAID_PAYMENT, paymentMethodType: 'External' })).toBe(0);
    expect(refundableAmount({ ...PAID_PAYMENT, processedAmount: 0 })).toBe(0);
  });

  /** Simulates the SQL statements of the repository for many refunds of one payment, in any order. */
  test('is never exceeded in any order of new refunds and responses, and a failed refund releases its amount', () => {
    const stepArbitrary = fc.oneof(
      fc.record({ kind: fc.constant('create' as const), amount: fc.integer({ min: 1, max: 700 }) }),
      fc.record({
        kind: fc.constant('respond' as const),
        refundIndex: fc.nat(20),
        response: fc.constantFrom('succeeded' as const, 'declined' as const, 'unknown' as const, 'pending' as const),
      }),
    );
    fc.assert(
      fc.property(fc.array(stepArbitrary, { maxLength: 60 }), (steps) => {
        let payment = PAID_PAYMENT;
        const refunds: { amount: number; state: keyof typeof REFUND_TRANSITIONS }[] = [];
        for (const step of steps) {
          if (step.kind === 'create') {
            if (findRefundRefusal(payment, step.amount)) continue;
            payment = { ...payment, pendingAmount: payment.pendingAmount + step.amount };
            refunds.push({ amount: step.amount, state: 'pending' });
          } else {
            const refund = refunds[step.refundIndex];
            const conclusion = refund && conclude(refund.state, buildResponse(step.response));
            if (conclusion?.kind !== 'end') continue;
            payment = {
              ...payment,
              pendingAmount: payment.pendingAmount - refund!.amount,
              refundedAmount: payment.refundedAmount + (conclusion.state === 'succeeded' ? refund!.amount : 0),
            };
            refund!.state = conclusion.state;
          }
          const sumInState = (state: string) =>
            refunds.filter((candidate) => candidate.state === state).reduce((sum, { amount }) => sum + amount, 0);
          expect([payment.refundedAmount, payment.pendingAmount]).toEqual([
            sumInState('succeeded'),
            sumInState('pending'),
          ]);
          expect(payment.refundedAmount + payment.pendingAmount).toBeLessThanOrEqual(payment.processedAmount);
        }
      }),
    );
  });
});

function buildResponse(kind: AcquirerRefundResponse['kind']): AcquirerRefundResponse {
  return kind === 'succeeded' || kind === 'declined' || kind === 'returned'
    ? { kind, acquirerReference: 'r-1' }
    : { kind };
}

describe('a response of the acquirer', () => {
  const endAs = (state: 'succeeded' | 'failed') => ({ kind: 'end', state, acquirerReference: 'r-1' }) as const;
  const returnIt = { kind: 'return', acquirerReference: 'r-1' } as const;
  const [queryAgain, noEffect, incident] = [{ kind: 'queryAgain' }, { kind: 'none' }, { kind: 'incident' }] as const;
  const stop = { kind: 'stop' } as const;
  const EFFECTS = {
    succeeded: { pending: endAs('succeeded'), succeeded: noEffect, failed: incident, returned: noEffect },
    declined: { pending: endAs('failed'), succeeded: incident, failed: noEffect, returned: incident },
    returned: { pending: returnIt, succeeded: returnIt, failed: incident, returned: noEffect },
    pending: { pending: queryAgain, succeeded: noEffect, failed: noEffect, returned: noEffect },
    unknown: { pending: queryAgain, succeeded: noEffect, failed: noEffect, returned: noEffect },
    notFound: { pending: queryAgain, succeeded: noEffect, failed: noEffect, returned: noEffect },
    uncertain: { pending: stop, succeeded: noEffect, failed: noEffect, returned: noEffect },
  } as const;
  const pairs = Object.entries(EFFECTS).flatMap(([response, effects]) =>
    Object.entries(effects).map(([state, effect]) => [response, state, effect] as const),
  );

  test.each(pairs)('(%s) to a refund in the state %s has the effect %j', (response, state, effect) => {
    expect(conclude(state as 'pending', buildResponse(response as 'unknown'))).toEqual(effect);
  });

  test('ends a refund only by a transition in REFUND_TRANSITIONS', () => {
    const ends = pairs.flatMap(([, state, effect]) => (effect.kind === 'end' ? [`${state} → ${effect.state}`] : []));
    // A pending refund whose money came back first succeeds.
    ends.push(
      ...pairs.flatMap(([, state, { kind }]) =>
        kind === 'return' && state === 'succeeded' ? [`${state} → failed`] : [],
      ),
    );
    const listedTransitions = Object.entries(REFUND_TRANSITIONS).flatMap(([from, next]) =>
      next.map((to) => `${from} → ${to}`),
    );
    expect(ends.toSorted()).toEqual(listedTransitions.toSorted());
  });
});

describe('queries to the acquirer', () => {
  const createdAt = new Date('2026-03-01T10:00:00.000Z');
  const after = (ms: number) => new Date(createdAt.getTime() + ms);

  test('are due after 2 s, 10 s, 1 min and 5 min, and then every 5 min without a limit', () => {
    const times = QUERY_AFTER_MS.map(
      (_, queries) => nextQueryAt(createdAt, queries, createdAt).getTime() - createdAt.getTime(),
    );
    expect(times).toEqual([2_000, 10_000, 60_000, 300_000]);
    for (const queries of [4, 5, 1_000_000])
      expect(nextQueryAt(createdAt, queries, after(86_400_000))).toEqual(after(86_400_000 + QUERY_INTERVAL_MS));
  });

  test('are never due in the past', () => expect(nextQueryAt(createdAt, 1, after(11_000))).toEqual(after(11_000)));

  test('report a refund as missing only after its first call has ended', () => {
    const isMissing = (ageMs: number, capturedAt?: Date): boolean =>
      isRefundMissing({ kind: 'notFound' }, { createdAt, capturedAt }, after(ageMs));
    expect([9_999, 10_000].map((ageMs) => isMissing(ageMs))).toEqual([false, true]);
    expect([9_999, 10_000].map((ageMs) => isMissing(ageMs, createdAt))).toEqual([false, true]);
    for (const kind of ['succeeded', 'declined', 'pending', 'unknown', 'uncertain'] as const)
      expect(isRefundMissing(buildResponse(kind), { createdAt, capturedAt: undefined }, after(86_400_000))).toBe(false);
    // Before the capture it was not sent.
    expect(isMissing(1, after(1))).toBe(true);
  });

  test('count the age of a refund from the time at which it could be sent', () => {
    const now = after(1_000);
    expect(sendableMs({ createdAt, capturedAt: undefined }, now)).toBe(1_000);
    expect(sendableMs({ createdAt, capturedAt: after(-1_000) }, now)).toBe(1_000);
    expect(sendableMs({ createdAt, capturedAt: after(400) }, now)).toBe(600);
  });
});

test('the fingerprint of a refund depends on the payment, the amount and the reason', () => {
  const fingerprints = [
    computeFingerprint('P1', 100, undefined),
    computeFingerprint('P2', 100, undefined),
    computeFingerprint('P1', 101, undefined),
    computeFingerprint('P1', 100, 'broken'),
    computeFingerprint('P1', 100, 'late'),
  ];
  expect(new Set(fingerprints).size).toBe(fingerprints.length);
  expect(computeFingerprint('P1', 100, undefined)).toBe(fingerprints[0]);
  expect(fingerprints[0]).toMatch(/^[0-9a-f]{64}$/);
});
