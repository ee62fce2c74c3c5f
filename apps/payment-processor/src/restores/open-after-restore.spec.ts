import { listDays } from './find-forgotten-movements.js';
import { findObstacle } from './open-after-restore.js';
import type { RestoreStatus } from './restore-status.query.js';

const REPAIRED: RestoreStatus = {
  ...{ restoreId: 'r', state: 'closed', restoredToUTCDate: '2026-03-01T10:00:00.000Z' },
  ...{ repairedUTCDate: '2026-03-01T11:00:00.000Z', unresolved: 0, reversalsOpen: 0, outcomesMissing: 0 },
  daysToReconcile: [],
};

test('a repaired restore whose books agree can be opened', () => {
  expect(findObstacle(REPAIRED, false)).toBeUndefined();
});

test.each<[string, Partial<RestoreStatus>, boolean]>([
  ['events of other services are missing', { state: 'replaying' }, false],
  ['the bank was not compared', { repairedUTCDate: null, unresolved: null }, false],
  ['a reversal is not confirmed', { reversalsOpen: 1 }, false],
  ['an outcome is missing', { outcomesMissing: 1 }, false],
  ['a movement is unresolved', { unresolved: 1 }, true],
  ['a day is not reconciled', { daysToReconcile: ['2026-03-01'] }, true],
])('it cannot be opened while %s', (_, difference, canBeAccepted) => {
  const status = { ...REPAIRED, ...difference };
  expect(findObstacle(status, false)).toEqual(expect.any(String));
  expect(findObstacle(status, true) === undefined).toBe(canBeAccepted);
});

test('the statements are those of the days since an hour before the restored time', () => {
  const now = new Date('2026-03-02T08:00:00.000Z');
  expect(listDays(new Date('2026-03-01T01:00:00.000Z'), now)).toEqual(['2026-03-01', '2026-03-02']);
  expect(listDays(new Date('2026-03-01T00:59:59.999Z'), now)).toEqual(['2026-02-28', '2026-03-01', '2026-03-02']);
});

test('a restored time more than 31 days ago is refused', () => {
  const now = new Date('2026-03-31T08:00:00.000Z');
  expect(listDays(new Date('2026-03-01T08:00:00.000Z'), now)).toHaveLength(31);
  expect(() => listDays(new Date('2026-02-28T08:00:00.000Z'), now)).toThrow('31 days');
});
