import { TestStore } from '../../test/test-store.js';
import { BasketRepository } from './basket.repository.js';

let db: TestStore;
let baskets: BasketRepository;
beforeEach(() => {
  db = new TestStore();
  baskets = new BasketRepository(db.store, db.clock);
});
afterEach(() => db.close());

const order = (changes: object): number =>
  db.basket({ till: 'T', reference: '17', external_reference: String(Math.random()), ...changes });
const idOf = (basket: { basketId: number } | undefined): number | undefined => basket?.basketId;

it('finds the open line-by-line basket only of the given till and site', () => {
  const basketId = db.basket({ dialect: 'lines', till: 'T' });
  expect(idOf(baskets.findOpen({ siteId: 1, till: 'T' }))).toBe(basketId);
  expect(baskets.findOpen({ siteId: 2, till: 'T' })).toBeUndefined();
  expect(baskets.findOpen({ siteId: 1, till: 'U' })).toBeUndefined();
  db.store.transaction((tx) => baskets.setState(tx, basketId, 'reset'));
  expect(baskets.findOpen({ siteId: 1, till: 'T' })).toBeUndefined();
});

describe('an order', () => {
  const find = (till = 'T', siteId = 1): number | undefined => idOf(baskets.findOrder({ siteId, till }, '17'));

  it.each(['open', 'saved'])('that is %s is resumed at its till', (state) => {
    const basketId = order({ state });
    order({ till: 'U', state: 'saved' });
    expect([find(), find('T', 2)]).toEqual([basketId, undefined]);
  });

  it.each(['complete', 'void', 'reset'])('that is %s is not resumed', (state) => {
    order({ state });
    expect(find()).toBeUndefined();
  });

  it('is resumed at another till if it is saved, and not if it is open', () => {
    order({ state: 'open' });
    expect(find('U')).toBeUndefined();
    const saved = order({ till: 'V', state: 'saved' });
    expect(find('U')).toBe(saved);
    order({ till: 'W', state: 'saved' });
    expect(find('U')).toBeUndefined();
  });
});

describe('the newest basket of an order', () => {
  const find = (till: string, siteId = 1): number | undefined => idOf(baskets.findNewestOrder({ siteId, till }, '17'));

  it('is the one of the till, also if it is closed', () => {
    order({ state: 'complete' });
    const newest = order({ state: 'void' });
    order({ till: 'U' });
    expect([find('T'), find('T', 2)]).toEqual([newest, undefined]);
  });

  it.each(['open', 'saved'])('at another till is the only one that is %s', (state) => {
    order({ state: 'complete' });
    const kept = order({ state });
    expect(find('U')).toBe(kept);
    order({ till: 'V', state: 'saved' });
    expect(find('U')).toBeUndefined();
  });

  it('at another till is the only closed basket, if none is open or saved', () => {
    const closed = order({ state: 'complete' });
    expect(find('U')).toBe(closed);
    order({ till: 'V', state: 'void' });
    expect(find('U')).toBeUndefined();
  });
});

it('T5: finds the newest basket with a reference at the given sites', () => {
  const first = order({ state: 'complete' });
  const other = order({ site_id: 2 });
  expect(idOf(baskets.findByReference('17', [1]))).toBe(first);
  expect(idOf(baskets.findByReference('17', [1, 2]))).toBe(other);
  expect(baskets.findByReference('17', [3])).toBeUndefined();
});

it('finds the newest basket with an external reference at its site', () => {
  const first = order({ external_reference: 'x', state: 'complete' });
  order({ external_reference: 'x', site_id: 2 });
  expect(idOf(baskets.findByExternalReference(1, 'x'))).toBe(first);
  expect(baskets.findByExternalReference(3, 'x')).toBeUndefined();
});

it('displays the open basket of the till that changed last; if two have the same time, the newer one', () => {
  const shown = (siteId = 1): number | undefined => idOf(baskets.findDisplayed({ siteId, till: 'T' }));
  order({ reference: '1' });
  const newer = order({ reference: '2' });
  order({ reference: '3', state: 'void' });
  order({ reference: '4', site_id: 2 });
  expect([shown(), shown(3)]).toEqual([newer, undefined]);
  db.clock.advance(1);
  const last = order({ reference: '5' });
  order({ reference: '6', changed_at: db.clock.later(-2).toISOString() });
  expect(shown()).toBe(last);
});

it('an external reference is taken if another open or saved basket of the site has it', () => {
  const own = order({ external_reference: '17' });
  expect(baskets.isTaken(1, '17', own)).toBe(false);
  expect(baskets.isTaken(1, '17', own + 1)).toBe(true);
  expect(baskets.isTaken(2, '17', own + 1)).toBe(false);
  for (const [state, isTaken] of [
    ['saved', true],
    ['void', false],
    ['complete', false],
  ] as const) {
    db.store.transaction((tx) => baskets.setState(tx, own, state));
    expect(baskets.isTaken(1, '17', own + 1)).toBe(isTaken);
  }
});
