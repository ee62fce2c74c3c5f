import { TestStore } from '../../test/test-store.js';
import { OutgoingCallRepository } from './outgoing-call.repository.js';

let db: TestStore;
let calls: OutgoingCallRepository;
beforeEach(() => {
  db = new TestStore();
  calls = new OutgoingCallRepository(db.store, db.clock);
});
afterEach(() => db.close());

const after = (milliseconds: number): string => db.clock.later(milliseconds).toISOString();
const next = (siteId = 1): number | undefined => calls.findNext(siteId, 'invoices')?.callId;
const ENDED = ['done', 'cancelled', 'refused'];

it('the next call is the oldest due call of its site and queue', () => {
  db.call({ subject: 'later', due_at: after(1) });
  db.call({ kind: 'refund' });
  db.call({ site_id: 2 });
  for (const state of ENDED) db.call({ state });
  const due = db.call({ subject: 'b' });
  db.call({ subject: 'c' });
  expect([next(), next(3)]).toEqual([due, undefined]);
});

it('a call waits only for earlier calls of the same subject and site', () => {
  const first = db.call({ due_at: after(1) });
  db.call({});
  expect(next()).toBeUndefined();
  const elsewhere = db.call({ site_id: 2 });
  expect([next(), next(2)]).toEqual([undefined, elsewhere]);
  db.store.transaction((tx) => calls.end(tx, first, 'done'));
  expect(next()).toBe(first + 1);
});

it('knows when the next call of a queue is due', () => {
  const dueAt = (siteId = 1): string | undefined => calls.nextDueAt(siteId, 'invoices');
  expect(dueAt()).toBeUndefined();
  db.call({ due_at: after(5) });
  db.call({ due_at: after(7) });
  db.call({ site_id: 2, due_at: after(1) });
  db.call({ kind: 'refund', due_at: after(2) });
  for (const state of ENDED) db.call({ state, due_at: after(3) });
  expect([dueAt(), dueAt(2), dueAt(3)]).toEqual([after(5), after(1), undefined]);
});

it('finds the waiting call that creates the invoice of a total', () => {
  const total_id = db.total(db.basket());
  db.call({ total_id, kind: 'close-invoice' });
  for (const state of ENDED) db.call({ total_id, state });
  expect(calls.findWaiting(total_id)).toBeUndefined();
  const waiting = db.call({ total_id });
  expect(calls.findWaiting(total_id)).toBe(waiting);
});

it('counts the waiting calls of a site', () => {
  db.call();
  db.call({ kind: 'refund' });
  for (const state of ENDED) db.call({ state });
  expect([calls.countWaiting(1), calls.countWaiting(2)]).toEqual([2, 0]);
});

it('cancels the waiting calls of a basket; calls that have ended stay unchanged', () => {
  const basket_id = db.basket();
  const ids = ['waiting', ...ENDED].map((state) => db.call({ basket_id, state }));
  const others = [db.call({ basket_id, kind: 'close-invoice' }), db.call({ basket_id: db.basket() })];
  db.store.transaction((tx) => calls.cancelOfBasket(tx, basket_id, 'make-invoice'));
  const stateOf = (callId: number): unknown =>
    db.store.find('SELECT state FROM outgoing_calls WHERE call_id = :callId', { callId });
  expect([...ids, ...others].map(stateOf)).toEqual(
    ['cancelled', ...ENDED, 'waiting', 'waiting'].map((state) => ({ state })),
  );
  // Its answer comes later: the call stays cancelled.
  db.store.transaction((tx) => calls.end(tx, ids[0]!, 'done'));
  expect(stateOf(ids[0]!)).toEqual({ state: 'cancelled' });
});
