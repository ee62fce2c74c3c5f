import { TestStore } from '../../test/test-store.js';
import { OutgoingCallRepository } from './outgoing-call.repository.js';

let db: TestStore;
let calls: OutgoingCallRepository;
beforeEach(() => {
  db = new TestStore();
  calls = new OutgoingCallRepository(db.store, db.clock);
});
afterEach(() => db.close());

const timeAfter = (milliseconds: number): string => db.clock.later(milliseconds).toISOString();
const nextCallId = (siteId = 1): number | undefined => calls.findNext(siteId, 'invoices')?.callId;
const FINAL_STATES = ['done', 'cancelled', 'refused'];

it('findNext returns the oldest due call of the site and queue', () => {
  db.insertCall({ subject: 'later', due_at: timeAfter(1) });
  db.insertCall({ kind: 'refund' });
  db.insertCall({ site_id: 2 });
  for (const state of FINAL_STATES) db.insertCall({ state });
  const due = db.insertCall({ subject: 'b' });
  db.insertCall({ subject: 'c' });
  expect([nextCallId(), nextCallId(3)]).toEqual([due, undefined]);
});

it('a call waits only for earlier calls of the same subject and site', () => {
  const first = db.insertCall({ due_at: timeAfter(1) });
  db.insertCall({});
  expect(nextCallId()).toBeUndefined();
  const callOfOtherSite = db.insertCall({ site_id: 2 });
  expect([nextCallId(), nextCallId(2)]).toEqual([undefined, callOfOtherSite]);
  db.store.transaction((tx) => calls.end(tx, first, 'done'));
  expect(nextCallId()).toBe(first + 1);
});

it('nextDueAt returns when the next call of a queue is due', () => {
  const dueAt = (siteId = 1): string | undefined => calls.nextDueAt(siteId, 'invoices');
  expect(dueAt()).toBeUndefined();
  db.insertCall({ due_at: timeAfter(5) });
  db.insertCall({ due_at: timeAfter(7) });
  db.insertCall({ site_id: 2, due_at: timeAfter(1) });
  db.insertCall({ kind: 'refund', due_at: timeAfter(2) });
  for (const state of FINAL_STATES) db.insertCall({ state, due_at: timeAfter(3) });
  expect([dueAt(), dueAt(2), dueAt(3)]).toEqual([timeAfter(5), timeAfter(1), undefined]);
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

it('supersedeInvoices repeats attempted calls immediately, and changes no other call', () => {
  const basket_id = db.insertBasket();
  const due_at = timeAfter(5_000);
  const attempted = db.insertCall({ basket_id, tries: 1, due_at });
  const others = [
    db.insertCall({ basket_id, tries: 1, due_at, kind: 'close-invoice' }),
    db.insertCall({ basket_id: db.insertBasket(), tries: 1, due_at }),
    db.insertCall({ basket_id, tries: 1, due_at, state: 'done' }),
  ];
  db.store.transaction((tx) => calls.supersedeInvoices(tx, basket_id));
  const dueAt = (callId: number): unknown =>
    db.store.find<{ dueAt: string }>('SELECT due_at AS dueAt FROM outgoing_calls WHERE call_id = :callId', { callId })
      ?.dueAt;
  expect([dueAt(attempted), calls.isWaiting(attempted)]).toEqual([timeAfter(0), true]);
  expect(others.map(dueAt)).toEqual([due_at, due_at, due_at]);
  expect(others.map((callId) => calls.isWaiting(callId))).toEqual([true, true, false]);
});
