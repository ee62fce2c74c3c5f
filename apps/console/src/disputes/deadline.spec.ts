import { MerchantClock } from '../languages/format.js';
import { describeDeadline } from './deadline.js';

const JOHANNESBURG = new MerchantClock([{ zone: 'Africa/Johannesburg' }]);
const NEW_YORK = new MerchantClock([{ zone: 'America/New_York' }]);

test.each([
  [JOHANNESBURG, '2026-03-01T10:00:00.001Z', '2026-03-01T10:00:00.000Z', { kind: 'due', daysLeft: 0 }],
  [JOHANNESBURG, '2026-03-01T10:00:00.000Z', '2026-03-01T10:00:00.000Z', { kind: 'overdue' }],
  [JOHANNESBURG, '2026-02-01T10:00:00.000Z', '2026-03-01T10:00:00.000Z', { kind: 'overdue' }],
  // The day of the merchant ends at 22:00 UTC.
  [JOHANNESBURG, '2026-03-01T21:59:59.999Z', '2026-03-01T21:00:00.000Z', { kind: 'due', daysLeft: 0 }],
  [JOHANNESBURG, '2026-03-01T22:00:00.000Z', '2026-03-01T21:00:00.000Z', { kind: 'due', daysLeft: 1 }],
  [JOHANNESBURG, '2026-03-15T10:00:00.000Z', '2026-03-01T10:00:00.000Z', { kind: 'due', daysLeft: 14 }],
  // 47 hours, because the clocks change in between.
  [NEW_YORK, '2026-03-09T03:30:00.000Z', '2026-03-07T05:30:00.000Z', { kind: 'due', daysLeft: 1 }],
  [NEW_YORK, '2026-03-09T04:00:00.000Z', '2026-03-07T05:30:00.000Z', { kind: 'due', daysLeft: 2 }],
  [JOHANNESBURG, '2036-03-15T10:00:00.000Z', '2026-03-01T10:00:00.000Z', { kind: 'due', daysLeft: 366 }],
  [JOHANNESBURG, null, '2026-03-01T10:00:00.000Z', { kind: 'none' }],
] as const)('%#: a deadline of %s at %s', (clock, respondBy, now, deadline) => {
  expect(describeDeadline(respondBy, new Date(now), clock)).toEqual(deadline);
});
