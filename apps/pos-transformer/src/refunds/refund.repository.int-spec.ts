import { TestStore } from '../../test/test-store.js';
import { RefundRepository } from './refund.repository.js';

let db: TestStore;
let refunds: RefundRepository;
beforeEach(() => {
  db = new TestStore();
  refunds = new RefundRepository(db.store, db.clock);
});
afterEach(() => db.close());

const refundIds = (found: readonly { refundId: number }[]): number[] => found.map(({ refundId }) => refundId);

it('T10: listEarlier returns the refunds of the payment, and the refund of the site with the RefundReference', () => {
  const ofPayment = db.insertRefund();
  const ofReference = db.insertRefund({ svc_id: 'Q', reference: 'R' });
  db.insertRefund({ svc_id: 'Q', reference: 'R', site_id: 2 });
  expect(refundIds(refunds.listEarlier(1, 'P', 'R'))).toEqual([ofPayment, ofReference]);
  expect(refundIds(refunds.listEarlier(1, 'P', undefined))).toEqual([ofPayment]);
});

it('listPending returns the pending refunds of the site that have the minimum age', () => {
  const pending = db.insertRefund({ refund_reference: 'a' });
  for (const [index, state] of ['queued', 'succeeded', 'failed', 'refused'].entries())
    db.insertRefund({ state, refund_reference: `b${index}` });
  db.insertRefund({ refund_reference: 'c', created_at: db.clock.later(1).toISOString() });
  db.insertRefund({ refund_reference: 'd', site_id: 2 });
  db.insertRefund();
  expect(refundIds(refunds.listPending(1, db.clock.nowISO()))).toEqual([pending]);
});

it.each([
  ['queued', true],
  ['pending', true],
  ['succeeded', false],
  ['failed', false],
  ['refused', false],
])('findPending with the reference of a refund in state %s finds it: %s', (state, isFound) => {
  db.insertRefund({ state, refund_reference: 'a' });
  expect(refunds.findPending('a') !== undefined).toBe(isFound);
});
