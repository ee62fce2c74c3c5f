import { TestStore } from '../../test/test-store.js';
import { OutgoingCallRepository } from './outgoing-call.repository.js';

let db: TestStore;
let calls: OutgoingCallRepository;
beforeEach(() => {
  db = new TestStore();
  calls = new OutgoingCallRepository(db.store);
});
afterEach(() => db.close());

const nextCallId = (siteId = 1, postponedIds: readonly number[] = []): number | undefined =>
  calls.findNext(siteId, 'invoices', postponedIds)?.callId;
const FINAL_STATES = ['done', 'cancelled', 'refused'];

it('findNext returns the oldest call of the site and queue that is not postponed', () => {
  const postponed = db.insertCall({ subject: 'later' });
  db.insertCall({ kind: 'refund' });
  db.insertCall({ site_id: 2 });
  for (const state of FINAL_STATES) db.insertCall({ state });
  const due = db.insertCall({ subject: 'b' });
  db.insertCall({ subject: 'c' });
  expect([nextCallId(1, [postponed]), nextCallId(1), nextCallId(3)]).toEqual([due, postponed, undefined]);
});

it('a call waits only for earlier calls of the same subject and site', () => {
  const first = db.insertCall();
  db.insertCall({});
  expect(nextCallId(1, [first])).toBeUndefined();
  const callOfOtherSite = db.insertCall({ site_id: 2 });
  expect([nextCallId(1, [first]), nextCallId(2, [first])]).toEqual([undefined, callOfOtherSite]);
  db.store.transaction((tx) => calls.end(tx, first, 'done'));
  expect(nextCallId()).toBe(first + 1);
});

it('hasDueCall returns whether a call of the site and queue waits that is not postponed', () => {
  const hasDueCall = (siteId: number, postponedIds: readonly number[] = []): boolean =>
    calls.hasDueCall(siteId, 'invoices', postponedIds);
  db.insertCall({ kind: 'refund' });
  for (const state of FINAL_STATES) db.insertCall({ state });
  db.insertCall({ site_id: 2 });
  expect([hasDueCall(1), hasDueCall(2)]).toEqual([false, true]);
  const waiting = db.insertCall();
  expect([hasDueCall(1), hasDueCall(1, [waiting]), hasDueCall(2, [waiting])]).toEqual([true, false, true]);
});

it('findWaitingInvoiceCall finds the waiting call that creates the invoice of a total', () => {
  const total_id = db.insertTotal(db.insertBasket());
  db.insertCall({ total_id, kind: 'close-invoice' });
  for (const state of FINAL_STATES) db.insertCall({ total_id, state });
  expect(calls.findWaitingInvoiceCall(total_id)).toBeUndefined();
  const waiting = db.insertCall({ total_id });
  expect(calls.findWaitingInvoiceCall(total_id)).toBe(waiting);
});

it('countWaiting counts the waiting calls of a site', () => {
  db.insertCall();
  db.insertCall({ kind: 'refund' });
  for (const state of FINAL_STATES) db.insertCall({ state });
  expect([calls.countWaiting(1), calls.countWaiting(2)]).toEqual([2, 0]);
});

it('supersedeInvoices cancels only waiting calls of the basket and kind that were not attempted, permanently', () => {
  const basket_id = db.insertBasket();
  const ids = ['waiting', ...FINAL_STATES].map((state) => db.insertCall({ basket_id, state }));
  const others = [db.insertCall({ basket_id, kind: 'close-invoice' }), db.insertCall({ basket_id: db.insertBasket() })];
  db.store.transaction((tx) => calls.supersedeInvoices(tx, basket_id));
  const stateOf = (callId: number): unknown =>
    db.store.find('SELECT state FROM outgoing_calls WHERE call_id = :callId', { callId });
  expect([...ids, ...others].map(stateOf)).toEqual(
    ['cancelled', ...FINAL_STATES, 'waiting', 'waiting'].map((state) => ({ state })),
  );
  // The response to the cancelled call arrives later.
  db.store.transaction((tx) => calls.end(tx, ids[0]!, 'done'));
  expect(stateOf(ids[0]!)).toEqual({ state: 'cancelled' });
});

it('supersedeInvoices changes no attempted call, and a later call of the basket waits for it', () => {
  const basket_id = db.insertBasket();
  const attempted = db.insertCall({ basket_id, attempts: 1 });
  const notWaitedFor = [
    db.insertCall({ basket_id, attempts: 1, kind: 'close-invoice' }),
    db.insertCall({ basket_id, attempts: 1, subject: 'other' }),
    db.insertCall({ basket_id, attempts: 1, site_id: 2 }),
    db.insertCall({ basket_id, attempts: 1, state: 'done' }),
  ];
  db.store.transaction((tx) => calls.supersedeInvoices(tx, basket_id));
  const later = db.insertCall({ basket_id });
  db.insertCall({ basket_id, attempts: 1 });
  expect([attempted, ...notWaitedFor].map((callId) => calls.isWaiting(callId))).toEqual([
    true,
    true,
    true,
    true,
    false,
  ]);
  expect(calls.listSupersededBefore(later)).toEqual([attempted]);
});
