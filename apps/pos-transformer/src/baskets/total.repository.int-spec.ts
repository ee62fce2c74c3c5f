import { TestStore } from '../../test/test-store.js';
import { TotalRepository } from './total.repository.js';

let db: TestStore;
let totals: TotalRepository;
let basketId: number;
beforeEach(() => {
  db = new TestStore();
  totals = new TotalRepository(db.store, db.clock);
  basketId = db.insertBasket();
});
afterEach(() => db.close());

const STATES = ['without-invoice', 'queued', 'open', 'replaced', 'closed', 'paid', 'refused'];
const timeAfter = (milliseconds: number): string => db.clock.later(milliseconds).toISOString();
const getState = (totalId: number): string => totals.get(totalId).state;

it('the current total is the newest that was not refused', () => {
  const first = db.insertTotal(basketId, 'replaced');
  db.insertTotal(basketId, 'refused');
  db.insertTotal(db.insertBasket());
  expect(totals.findCurrent(basketId)?.totalId).toBe(first);
});

describe('invoices that may have an unknown payment', () => {
  const HOUR = 3_600_000;
  const list = (siteId = 1): string[] => totals.listPayableInvoices(siteId, { expiry: timeAfter(HOUR), end: timeAfter(0) });

  it.each<[string, string, Record<string, string>, boolean]>([
    ['open', 'open and not long expired', { expires_at: timeAfterStart(HOUR + 1) }, true],
    ['open', 'open, whose time is over', { expires_at: timeAfterStart(HOUR) }, false],
    ['replaced', 'replaced a short time ago', { ended_at: timeAfterStart(1) }, true],
    ['closed', 'closed a short time ago', { ended_at: timeAfterStart(1) }, true],
    ['replaced', 'replaced long ago', { ended_at: timeAfterStart(0) }, false],
    ['paid', 'paid', { ended_at: timeAfterStart(1), expires_at: timeAfterStart(HOUR + 1) }, false],
    ['refused', 'refused', { ended_at: timeAfterStart(1), expires_at: timeAfterStart(HOUR + 1) }, false],
  ])('%s: %s', (state, _, changes, isListed) => {
    db.insertTotal(basketId, state, { invoice_reference: 'i', code: 'c', ...changes });
    expect([list(), list(2)]).toEqual([isListed ? ['i'] : [], []]);
  });

  /** The initial clock time of every test database. */
  function timeAfterStart(milliseconds: number): string {
    return new Date(Date.parse('2026-03-01T10:00:00.000Z') + milliseconds).toISOString();
  }
});

describe('invoices that are renewed', () => {
  const list = (): number[] =>
    totals
      .listExpired({ now: timeAfter(0), createdBefore: timeAfter(0), changedAfter: timeAfter(-1_000) })
      .map(({ totalId }) => totalId);
  const expired = (): Record<string, string> => ({ expires_at: timeAfter(0), created_at: timeAfter(-1) });

  it('have expired, have a minimum age, and belong to an open basket that was not abandoned', () => {
    const totalId = db.insertTotal(db.insertBasket({ changed_at: timeAfter(-1_000) }), 'open', expired());
    expect(list()).toEqual([totalId]);
  });

  it.each<[string, string, () => Record<string, string>, () => Record<string, string>]>([
    ['that are valid', 'open', () => ({ expires_at: timeAfter(1) }), () => ({})],
    ['that are young', 'open', () => ({ created_at: timeAfter(0) }), () => ({})],
    ['that were paid', 'paid', () => ({}), () => ({})],
    ['of a basket that is saved', 'open', () => ({}), () => ({ state: 'saved' })],
    ['of a basket that was forgotten', 'open', () => ({}), () => ({ changed_at: timeAfter(-1_001) })],
  ])('do not include those %s', (_, state, total, basket) => {
    db.insertTotal(db.insertBasket(basket()), state, { ...expired(), ...total() });
    expect(list()).toEqual([]);
  });
});

describe('whether the platform may have a payable invoice', () => {
  it.each<[string, number, string, boolean]>([
    ['open', 0, 'make-invoice', true],
    ['queued', 0, 'make-invoice', false],
    ['queued', 1, 'make-invoice', true],
    ['queued', 1, 'close-invoice', false],
    ['replaced', 1, 'make-invoice', false],
    ['paid', 1, 'make-invoice', false],
  ])('%s, tried %d times by %s: %s', (state, tries, kind, may) => {
    const total_id = db.insertTotal(basketId, state);
    db.insertCall({ kind, tries, basket_id: basketId, total_id });
    expect([totals.mayHavePayableInvoice(basketId), totals.mayHavePayableInvoice(basketId + 1)]).toEqual([may, false]);
  });
});

it.each(STATES)('a newer total replaces an older one that is %s', (state) => {
  const [older, own, other] = [db.insertTotal(basketId, state), db.insertTotal(basketId, 'open'), db.insertTotal(db.insertBasket())];
  db.store.transaction((tx) => totals.replaceEarlier(tx, basketId, own));
  expect([older, own, other].map(getState)).toEqual([
    ['open', 'queued'].includes(state) ? 'replaced' : state,
    'open',
    'open',
  ]);
});

it.each(STATES)('closing a basket closes its totals up to the given one: %s', (state) => {
  const [own, newer, other] = [db.insertTotal(basketId, state), db.insertTotal(basketId, 'open'), db.insertTotal(db.insertBasket())];
  db.store.transaction((tx) => totals.closeUpTo(tx, basketId, own));
  expect([own, newer, other].map(getState)).toEqual([
    ['open', 'queued'].includes(state) ? 'closed' : state,
    'open',
    'open',
  ]);
});
