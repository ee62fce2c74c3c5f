import { TestStore } from '../../test/test-store.js';
import { BasketRepository } from './basket.repository.js';

let db: TestStore;
let baskets: BasketRepository;
beforeEach(() => {
  db = new TestStore();
  baskets = new BasketRepository(db.store, db.clock);
});
afterEach(() => db.close());

const insertOrder = (changes: object): number =>
  db.insertBasket({ till: 'T', reference: '17', external_reference: String(Math.random()), ...changes });
const getBasketId = (basket: { basketId: number } | undefined): number | undefined => basket?.basketId;

it('findOpen returns only the open line-by-line basket of the given till and site', () => {
  const basketId = db.insertBasket({ dialect: 'lines', till: 'T' });
  expect(getBasketId(baskets.findOpen({ siteId: 1, till: 'T' }))).toBe(basketId);
  expect(baskets.findOpen({ siteId: 2, till: 'T' })).toBeUndefined();
  expect(baskets.findOpen({ siteId: 1, till: 'U' })).toBeUndefined();
  db.store.transaction((tx) => baskets.setState(tx, basketId, 'reset'));
  expect(baskets.findOpen({ siteId: 1, till: 'T' })).toBeUndefined();
});

describe('findOrder', () => {
  const find = (till = 'T', siteId = 1): number | undefined => getBasketId(baskets.findOrder({ siteId, till }, '17'));

  it.each(['open', 'saved'])('finds an order that is %s at its own till', (state) => {
    const basketId = insertOrder({ state });
    insertOrder({ till: 'U', state: 'saved' });
    expect([find(), find('T', 2)]).toEqual([basketId, undefined]);
  });

  it.each(['complete', 'void', 'reset'])('does not find an order that is %s', (state) => {
    insertOrder({ state });
    expect(find()).toBeUndefined();
  });

  it('finds a saved order of another till if no second till has saved the order, but never an open order', () => {
    insertOrder({ state: 'open' });
    expect(find('U')).toBeUndefined();
    const saved = insertOrder({ till: 'V', state: 'saved' });
    expect(find('U')).toBe(saved);
    insertOrder({ till: 'W', state: 'saved' });
    expect(find('U')).toBeUndefined();
  });
});

describe('findNewestOrder', () => {
  const find = (till: string, siteId = 1): number | undefined =>
    getBasketId(baskets.findNewestOrder({ siteId, till }, '17'));

  it('returns the newest basket of the till, even if it is closed', () => {
    insertOrder({ state: 'complete' });
    const newest = insertOrder({ state: 'void' });
    insertOrder({ till: 'U' });
    expect([find('T'), find('T', 2)]).toEqual([newest, undefined]);
  });

  it.each(['open', 'saved'])('returns the %s basket of another till if no other basket is open or saved', (state) => {
    insertOrder({ state: 'complete' });
    const active = insertOrder({ state });
    expect(find('U')).toBe(active);
    insertOrder({ till: 'V', state: 'saved' });
    expect(find('U')).toBeUndefined();
  });

  it('returns a closed basket of another till if the order has no other basket', () => {
    const closed = insertOrder({ state: 'complete' });
    expect(find('U')).toBe(closed);
    insertOrder({ till: 'V', state: 'void' });
    expect(find('U')).toBeUndefined();
  });
});

it('T5: findByReference returns the newest basket with the reference at the given sites', () => {
  const first = insertOrder({ state: 'complete' });
  const other = insertOrder({ site_id: 2 });
  expect(getBasketId(baskets.findByReference('17', [1]))).toBe(first);
  expect(getBasketId(baskets.findByReference('17', [1, 2]))).toBe(other);
  expect(baskets.findByReference('17', [3])).toBeUndefined();
});

it('findDisplayed returns the open basket that changed last, or the newest of those that changed last', () => {
  const findDisplayedId = (siteId = 1): number | undefined => getBasketId(baskets.findDisplayed({ siteId, till: 'T' }));
  insertOrder({ reference: '1' });
  const newer = insertOrder({ reference: '2' });
  insertOrder({ reference: '3', state: 'void' });
  insertOrder({ reference: '4', site_id: 2 });
  expect([findDisplayedId(), findDisplayedId(3)]).toEqual([newer, undefined]);
  db.clock.advance(1);
  const last = insertOrder({ reference: '5' });
  insertOrder({ reference: '6', changed_at: db.clock.later(-2).toISOString() });
  expect(findDisplayedId()).toBe(last);
});

it('an external reference is used if another open or saved basket of the site has it', () => {
  const own = insertOrder({ external_reference: '17' });
  expect(baskets.isExternalReferenceUsed(1, '17', own)).toBe(false);
  expect(baskets.isExternalReferenceUsed(1, '17', own + 1)).toBe(true);
  expect(baskets.isExternalReferenceUsed(2, '17', own + 1)).toBe(false);
  for (const [state, isUsed] of [
    ['saved', true],
    ['void', false],
    ['complete', false],
  ] as const) {
    db.store.transaction((tx) => baskets.setState(tx, own, state));
    expect(baskets.isExternalReferenceUsed(1, '17', own + 1)).toBe(isUsed);
  }
});
