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

it('findCurrent returns the newest total that was not refused', () => {
  const first = db.insertTotal(basketId, 'replaced');
  db.insertTotal(basketId, 'refused');
  db.insertTotal(db.insertBasket());
  expect(totals.findCurrent(basketId)?.totalId).toBe(first);
});

describe('listPayableInvoices', () => {
  const HOUR = 3_600_000;
  const list = (siteId = 1): string[] =>
    totals.listPayableInvoices(siteId, { expiry: timeAfter(HOUR), end: timeAfter(0) });

  it.each<{ state: string; limits: string; changes: Record<string, string>; isListed: boolean }>([
    {
      state: 'open',
      limits: 'that expires after the limit',
      changes: { expires_at: timeAfterStart(HOUR + 1) },
      isListed: true,
    },
    {
      state: 'open',
      limits: 'that expires at the limit',
      changes: { expires_at: timeAfterStart(HOUR) },
      isListed: false,
    },
    {
      state: 'replaced',
      limits: 'that ended after the limit',
      changes: { ended_at: timeAfterStart(1) },
      isListed: true,
    },
    { state: 'closed', limits: 'that ended after the limit', changes: { ended_at: timeAfterStart(1) }, isListed: true },
    { state: 'replaced', limits: 'that ended at the limit', changes: { ended_at: timeAfterStart(0) }, isListed: false },
    {
      state: 'paid',
      limits: 'within both limits',
      changes: { ended_at: timeAfterStart(1), expires_at: timeAfterStart(HOUR + 1) },
      isListed: false,
    },
    {
      state: 'refused',
      limits: 'within both limits',
      changes: { ended_at: timeAfterStart(1), expires_at: timeAfterStart(HOUR + 1) },
      isListed: false,
    },
  ])('returns an invoice in state $state $limits: $isListed', ({ state, changes, isListed }) => {
    db.insertTotal(basketId, state, { invoice_reference: 'i', code: 'c', ...changes });
    expect([list(), list(2)]).toEqual([isListed ? ['i'] : [], []]);
  });

  it.each(['replaced', 'closed'])('does not return a total in state %s that never had an invoice', (state) => {
    db.insertTotal(basketId, state, { invoice_reference: null, ended_at: timeAfterStart(1) });
    expect(list()).toEqual([]);
  });

  /** A time relative to the initial clock time of every TestStore. */
  function timeAfterStart(milliseconds: number): string {
    return new Date(Date.parse('2026-03-01T10:00:00.000Z') + milliseconds).toISOString();
  }
});

describe('listExpired', () => {
  const list = (): number[] =>
    totals
      .listExpired({ now: timeAfter(0), createdBefore: timeAfter(0), changedAfter: timeAfter(-1_000) })
      .map(({ totalId }) => totalId);
  const expired = (): Record<string, string> => ({ expires_at: timeAfter(0), created_at: timeAfter(-1) });

  it('returns expired totals that have the minimum age, of open baskets that are not abandoned', () => {
    const totalId = db.insertTotal(db.insertBasket({ changed_at: timeAfter(-1_000) }), 'open', expired());
    expect(list()).toEqual([totalId]);
  });

  it.each<[string, string, () => Record<string, string>, () => Record<string, string>]>([
    ['that has not expired', 'open', () => ({ expires_at: timeAfter(1) }), () => ({})],
    ['below the minimum age', 'open', () => ({ created_at: timeAfter(0) }), () => ({})],
    ['that was paid', 'paid', () => ({}), () => ({})],
    ['of a saved basket', 'open', () => ({}), () => ({ state: 'saved' })],
    ['that is withdrawn', 'open', () => ({ withdrawn: '1' }), () => ({})],
    ['of an abandoned basket', 'open', () => ({}), () => ({ changed_at: timeAfter(-1_001) })],
  ])('does not return a total %s', (_, state, total, basket) => {
    db.insertTotal(db.insertBasket(basket()), state, { ...expired(), ...total() });
    expect(list()).toEqual([]);
  });
});

describe('mayHavePayableInvoice', () => {
  it.each<[string, number, string, boolean]>([
    ['open', 0, 'create-invoice', true],
    ['queued', 0, 'create-invoice', false],
    ['queued', 1, 'create-invoice', true],
    ['queued', 1, 'close-invoice', false],
    ['replaced', 1, 'create-invoice', false],
    ['paid', 1, 'create-invoice', false],
  ])(
    'of a basket with a total in state %s, after %d attempts of the call %s, returns %s',
    (state, attempts, kind, expected) => {
      const total_id = db.insertTotal(basketId, state);
      db.insertCall({ kind, attempts, basket_id: basketId, total_id });
      expect([totals.mayHavePayableInvoice(basketId), totals.mayHavePayableInvoice(basketId + 1)]).toEqual([
        expected,
        false,
      ]);
    },
  );
});

it.each(STATES)('replaceEarlier replaces an older total in state %s only if it is open or queued', (state) => {
  const [older, own, other] = [
    db.insertTotal(basketId, state),
    db.insertTotal(basketId, 'open'),
    db.insertTotal(db.insertBasket()),
  ];
  db.store.transaction((tx) => totals.replaceEarlier(tx, basketId, own));
  expect([older, own, other].map(getState)).toEqual([
    ['open', 'queued'].includes(state) ? 'replaced' : state,
    'open',
    'open',
  ]);
});

it.each(STATES)('closeUpTo closes a total in state %s only if it is open or queued, never a newer total', (state) => {
  const [own, newer, other] = [
    db.insertTotal(basketId, state),
    db.insertTotal(basketId, 'open'),
    db.insertTotal(db.insertBasket()),
  ];
  db.store.transaction((tx) => totals.closeUpTo(tx, basketId, own));
  expect([own, newer, other].map(getState)).toEqual([
    ['open', 'queued'].includes(state) ? 'closed' : state,
    'open',
    'open',
  ]);
});
