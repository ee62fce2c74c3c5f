/** The schema refuses unknown states, and a second row where only one is allowed. */
import { TestStore } from '../../test/test-store.js';

let db: TestStore;
beforeEach(() => (db = new TestStore()));
afterEach(() => db.close());

describe.each<[string, readonly string[], (state: string) => unknown]>([
  ['a basket', ['open', 'saved', 'reset', 'complete', 'void'], (state) => db.basket({ state })],
  [
    'a total',
    ['without-invoice', 'queued', 'open', 'replaced', 'closed', 'paid', 'refused'],
    (state) => db.total(db.basket(), state),
  ],
  ['a refund', ['queued', 'pending', 'succeeded', 'failed', 'refused'], (state) => db.refund({ state })],
  ['a call', ['waiting', 'done', 'cancelled', 'refused'], (state) => db.call({ state })],
])('%s', (_, states, insert) => {
  it.each(states)('may be %s', (state) => expect(insert(state)).toBe(1));
  it('accepts no other state', () => expect(() => insert('lost')).toThrow('CHECK'));
});

it('a total with an invoice has its reference, code and expiry, and a queued one has its request', () => {
  const basketId = db.basket();
  for (const missing of ['invoice_reference', 'code', 'expires_at'])
    expect(() => db.total(basketId, 'open', { [missing]: null })).toThrow('CHECK');
  for (const state of ['open', 'queued']) expect(() => db.total(basketId, state, { request: null })).toThrow('CHECK');
  for (const state of ['without-invoice', 'refused', 'closed'])
    expect(db.total(basketId, state, { request: null })).toBeGreaterThan(0);
});

it('a till has one open line-by-line basket, and may also have closed ones and orders', () => {
  const lines = (changes: object): number => db.basket({ dialect: 'lines', till: 'T', ...changes });
  lines({});
  expect(() => lines({})).toThrow('UNIQUE');
  for (const other of [{ state: 'reset' }, { state: 'reset' }, { till: 'U' }, { site_id: 2 }, { dialect: 'facade' }])
    expect(lines(other)).toBeGreaterThan(1);
});

it.each(['open', 'saved'])('an order has one open or saved basket at a till: %s', (state) => {
  const order = (changes: object): number =>
    db.basket({ till: 'T', reference: '17', external_reference: String(Math.random()), state, ...changes });
  order({});
  for (const other of ['open', 'saved']) expect(() => order({ state: other })).toThrow('UNIQUE');
  for (const other of [
    { state: 'void' },
    { state: 'void' },
    { reference: '18' },
    { till: 'U' },
    { site_id: 2 },
    { dialect: 'lines', state: 'reset' },
  ])
    expect(order(other)).toBeGreaterThan(1);
});

it.each(['open', 'saved'])(
  'a reference at the platform belongs to one basket of a site that is not closed: %s',
  (state) => {
    const named = (changes: object): number =>
      db.basket({ reference: String(Math.random()), external_reference: '17', state, ...changes });
    named({});
    for (const other of ['open', 'saved']) expect(() => named({ state: other })).toThrow('UNIQUE');
    for (const other of [{ state: 'complete' }, { state: 'complete' }, { external_reference: '18' }, { site_id: 2 }])
      expect(named(other)).toBeGreaterThan(1);
  },
);

it('a RefundReference is unique at a site', () => {
  db.refund({ reference: 'R' });
  expect(() => db.refund({ reference: 'R' })).toThrow('UNIQUE');
  for (const other of [{ reference: 'S' }, { reference: 'R', site_id: 2 }, {}, {}])
    expect(db.refund(other)).toBeGreaterThan(1);
});
