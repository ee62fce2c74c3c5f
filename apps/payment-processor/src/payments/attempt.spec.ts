import { ASK_AFTER_MS, endOf, nextAskAt, REVERSE_AFTER_MS } from './attempt.js';

const startedAt = new Date('2026-03-01T10:00:00.000Z');
const after = (milliseconds: number): Date => new Date(startedAt.getTime() + milliseconds);

test('is asked about after 2 s, 10 s, 1 min and 5 min, and reversed at 15 min', () => {
  expect(ASK_AFTER_MS.map((_, asked) => nextAskAt(startedAt, asked, startedAt))).toEqual(
    [2_000, 10_000, 60_000, 300_000].map(after),
  );
  expect(nextAskAt(startedAt, 4, after(300_000))).toEqual(after(900_000));
});

test('a time that has passed means now, and a reversal that was not confirmed is repeated in half a minute', () => {
  expect(nextAskAt(startedAt, 1, after(20_000))).toEqual(after(20_000));
  expect(nextAskAt(startedAt, 5, after(REVERSE_AFTER_MS + 5_000))).toEqual(after(REVERSE_AFTER_MS + 35_000));
});

test('nothing is concluded from an unknown outcome or an unconfirmed reversal', () => {
  expect(endOf({ kind: 'unknown' })).toBeUndefined();
  expect(endOf({ kind: 'unconfirmed' })).toBeUndefined();
});

test('only an approval is a success', () => {
  expect(endOf({ kind: 'approved', acquirerReference: 'a' })?.settlement).toEqual({ state: 'success' });
  expect(endOf({ kind: 'declined', reason: 'card.expired', acquirerReference: 'a' })?.settlement).toEqual({
    state: 'failed',
    error: 'card.expired',
  });
  expect(endOf({ kind: 'neverCharged' })).toEqual({
    state: 'notAttempted',
    settlement: { state: 'failed', error: 'acquirer.unavailable' },
  });
  expect(endOf({ kind: 'reversed' })).toEqual({
    state: 'reversed',
    settlement: { state: 'failed', error: 'acquirer.outcome-unknown' },
  });
});
