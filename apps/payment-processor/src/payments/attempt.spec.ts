import { ASK_AFTER_MS, ATTEMPT_TRANSITIONS, endOf, nextAskAt, REVERSE_AFTER_MS } from './attempt.js';

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

test('a time that is now is not put off, and neither is the first reversal', () => {
  expect(nextAskAt(startedAt, 0, after(2_000))).toEqual(after(2_000));
  expect(nextAskAt(startedAt, 3, after(400_000))).toEqual(after(400_000));
  expect(nextAskAt(startedAt, 4, after(REVERSE_AFTER_MS - 1))).toEqual(after(REVERSE_AFTER_MS));
  expect(nextAskAt(startedAt, 4, after(REVERSE_AFTER_MS))).toEqual(after(REVERSE_AFTER_MS + 30_000));
});

test('an attempt without money can still be reversed, one that took or gave back money is final (P1)', () => {
  expect(ATTEMPT_TRANSITIONS).toEqual({
    started: ['approved', 'declined', 'notAttempted', 'unknown', 'reversed'],
    unknown: ['approved', 'declined', 'notAttempted', 'reversed'],
    approved: [],
    declined: ['reversed'],
    notAttempted: ['reversed'],
    reversed: [],
  });
});

test('a bank that asks for a verification has charged nothing', () => {
  const challenge = { reference: 'c-1', url: 'https://bank.example/c/1' };
  expect(endOf({ kind: 'verificationRequired', challenge })).toEqual({
    state: 'notAttempted',
    acquirerReference: 'c-1',
    settlement: { state: 'verificationRequired', challenge },
  });
  expect(endOf({ kind: 'notAttempted' })).toEqual(endOf({ kind: 'neverCharged' }));
});

test('nothing is concluded from an unknown outcome or an unconfirmed reversal', () => {
  expect(endOf({ kind: 'unknown' })).toBeUndefined();
  expect(endOf({ kind: 'unconfirmed' })).toBeUndefined();
});

test('only an approval is a success', () => {
  expect(endOf({ kind: 'approved', acquirerReference: 'a' })).toEqual({
    state: 'approved',
    acquirerReference: 'a',
    settlement: { state: 'success' },
  });
  expect(endOf({ kind: 'declined', reason: 'card.expired', acquirerReference: 'a' })).toEqual({
    state: 'declined',
    acquirerReference: 'a',
    settlement: { state: 'failed', error: 'card.expired' },
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
