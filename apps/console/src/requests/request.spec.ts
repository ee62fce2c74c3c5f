import { addDays } from '@svc/kernel';
import { chooseLastDay, determineRequestState, type RequestFacts } from './request.js';

const EXPIRES = '2026-03-08T22:00:00.000Z';
const open: RequestFacts = { expiresUTCDate: EXPIRES, paymentReference: null, endedState: null, endedUTCDate: null };
const before = new Date(Date.parse(EXPIRES) - 1);
const at = new Date(EXPIRES);

describe('the state of a request', () => {
  test('is open until its expiry, exclusive', () => {
    expect([before, at].map((now) => determineRequestState(open, now))).toEqual(['open', 'expired']);
  });

  test('is paid with a payment, also if the payable was closed or the time is over', () => {
    const paid = { ...open, paymentReference: 'P', endedState: 'closed' as const, endedUTCDate: before.toISOString() };
    expect([before, at].map((now) => determineRequestState(paid, now))).toEqual(['paid', 'paid']);
  });

  test('is cancelled if it was closed before its expiry, and expired if it was closed afterwards', () => {
    const closedAt = (time: Date) =>
      determineRequestState({ ...open, endedState: 'closed', endedUTCDate: time.toISOString() }, at);
    expect([closedAt(before), closedAt(at)]).toEqual(['cancelled', 'expired']);
  });

  test('is refused after too many failed payments', () => {
    const refused = { ...open, endedState: 'refused' as const, endedUTCDate: before.toISOString() };
    expect(determineRequestState(refused, at)).toBe('refused');
  });
});

describe('the last day', () => {
  const TODAY = '2026-02-27';

  test.each([
    ['1', '2026-02-28'],
    ['7', '2026-03-06'],
    ['30', '2026-03-29'],
  ])('%s days after today is %s', (choice, day) => expect(chooseLastDay(TODAY, choice, undefined)).toBe(day));

  test('of the person’s choice is from today to 30 days after today', () => {
    const choose = (day: string | undefined) => chooseLastDay(TODAY, 'date', day);
    expect([choose(TODAY), choose(addDays(TODAY, 30))]).toEqual([TODAY, '2026-03-29']);
    for (const day of [addDays(TODAY, -1), addDays(TODAY, 31), '2026-02-30', 'x', '', undefined])
      expect(choose(day)).toBeUndefined();
  });

  test('needs a known choice', () => {
    for (const choice of ['0', '2', '31', '', undefined]) expect(chooseLastDay(TODAY, choice, TODAY)).toBeUndefined();
  });
});
