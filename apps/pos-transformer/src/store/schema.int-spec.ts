/**
 * Tests of the CHECK and UNIQUE constraints. A CHECK refuses unknown states. A UNIQUE constraint refuses a second row
 * where only one row is allowed.
 */
import { TestStore } from '../../test/test-store.js';

let db: TestStore;
beforeEach(() => (db = new TestStore()));
afterEach(() => db.close());

describe.each<[string, readonly string[], (state: string) => unknown]>([
  ['a basket', ['open', 'saved', 'reset', 'complete', 'void'], (state) => db.insertBasket({ state })],
  [
    'a total',
    ['without-invoice', 'queued', 'open', 'replaced', 'closed', 'paid', 'refused'],
    (state) => db.insertTotal(db.insertBasket(), state),
  ],
  ['a refund', ['queued', 'pending', 'succeeded', 'failed', 'refused'], (state) => db.insertRefund({ state })],
  ['a call', ['waiting', 'done', 'cancelled', 'refused'], (state) => db.insertCall({ state })],
])('%s', (_, states, insert) => {
  it.each(states)('may have the state %s', (state) => expect(insert(state)).toBe(1));
  it('cannot have an unknown state', () => expect(() => insert('lost')).toThrow('CHECK'));
});

it('a call can only be of a known kind', () => {
  for (const kind of ['create-invoice', 'close-invoice', 'refund']) expect(db.insertCall({ kind })).toBeGreaterThan(0);
  expect(() => db.insertCall({ kind: 'settle' })).toThrow('CHECK');
});

it('an open total must have a reference, code and expiry; an open or queued total must have a request', () => {
  const basketId = db.insertBasket();
  for (const missing of ['invoice_reference', 'code', 'expires_at'])
    expect(() => db.insertTotal(basketId, 'open', { [missing]: null })).toThrow('CHECK');
  for (const state of ['open', 'queued'])
    expect(() => db.insertTotal(basketId, state, { request: null })).toThrow('CHECK');
  for (const state of ['without-invoice', 'refused', 'closed'])
    expect(db.insertTotal(basketId, state, { request: null })).toBeGreaterThan(0);
});

it('a till can have only one open line-by-line basket, but any number of closed baskets and of orders', () => {
  const insertLineBasket = (changes: object): number => db.insertBasket({ dialect: 'lines', till: 'T', ...changes });
  insertLineBasket({});
  expect(() => insertLineBasket({})).toThrow('UNIQUE');
  for (const other of [{ state: 'reset' }, { state: 'reset' }, { till: 'U' }, { site_id: 2 }, { dialect: 'facade' }])
    expect(insertLineBasket(other)).toBeGreaterThan(1);
});

it.each(['open', 'saved'])(
  'an order with a basket that is %s can have no second open or saved basket at the same till',
  (state) => {
    const insertOrder = (changes: object): number =>
      db.insertBasket({ till: 'T', reference: '17', external_reference: String(Math.random()), state, ...changes });
    insertOrder({});
    for (const other of ['open', 'saved']) expect(() => insertOrder({ state: other })).toThrow('UNIQUE');
    for (const other of [
      { state: 'void' },
      { state: 'void' },
      { reference: '18' },
      { till: 'U' },
      { site_id: 2 },
      { dialect: 'lines', state: 'reset' },
    ])
      expect(insertOrder(other)).toBeGreaterThan(1);
  },
);

it.each(['open', 'saved'])(
  'the external reference of a basket that is %s cannot be used by another open or saved basket of the site',
  (state) => {
    const insertWithExternalReference = (changes: object): number =>
      db.insertBasket({ reference: String(Math.random()), external_reference: '17', state, ...changes });
    insertWithExternalReference({});
    for (const other of ['open', 'saved'])
      expect(() => insertWithExternalReference({ state: other })).toThrow('UNIQUE');
    for (const other of [{ state: 'complete' }, { state: 'complete' }, { external_reference: '18' }, { site_id: 2 }])
      expect(insertWithExternalReference(other)).toBeGreaterThan(1);
  },
);

it('a RefundReference is unique at a site', () => {
  db.insertRefund({ reference: 'R' });
  expect(() => db.insertRefund({ reference: 'R' })).toThrow('UNIQUE');
  for (const other of [{ reference: 'S' }, { reference: 'R', site_id: 2 }, {}, {}])
    expect(db.insertRefund(other)).toBeGreaterThan(1);
});
