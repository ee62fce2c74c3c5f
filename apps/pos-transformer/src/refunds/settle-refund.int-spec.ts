import type { MerchantRefund } from '@svc/sdk';
import { TestStore } from '../../test/test-store.js';
import { AlertRepository } from '../platform/alert.repository.js';
import { RefundRepository } from './refund.repository.js';
import { SettleRefund } from './settle-refund.js';

let db: TestStore;
beforeEach(() => (db = new TestStore()));
afterEach(() => db.close());

/**
 * Inserts a refund in `state`, and settles it with the platform's `status`. Returns [new state, refusal] and the alert
 * messages.
 */
function settleRefund(state: string, status: MerchantRefund['status']): [unknown, string[]] {
  const [refunds, alerts] = [new RefundRepository(db.store, db.clock), new AlertRepository(db.store, db.clock)];
  const refundId = db.insertRefund({ state, refund_reference: 'a', refusal: 'it was given up' });
  const refund = { refundReference: 'a', svcId: 'P', amount: 100, status, createdUTCDate: db.clock.nowISO() };
  db.store.transaction((tx) => new SettleRefund(refunds, alerts).execute(tx, 1, refund));
  const { state: newState, refusal } = refunds.get(refundId);
  return [[newState, refusal], alerts.list(1, '').map(({ message }) => message)];
}

it.each<[MerchantRefund['status'], [unknown, string[]]]>([
  ['succeeded', [['succeeded', null], []]],
  ['failed', [['failed', null], ['The bank declined the refund of R 1.00 for P.']]],
  ['pending', [['pending', 'it was given up'], []]],
])(
  'T10: a pending refund that the platform reports as %s changes to that state; only a failure causes an alert',
  (status, expected) => {
    expect(settleRefund('pending', status)).toEqual(expected);
  },
);

it.each(['succeeded', 'failed', 'refused'])(
  'T10: a report does not change a refund whose state is already %s',
  (state) => {
    expect(settleRefund(state, 'failed')).toEqual([[state, 'it was given up'], []]);
  },
);
