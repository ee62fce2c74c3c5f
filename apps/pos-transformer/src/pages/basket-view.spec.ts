import type { MerchantPayment } from '@svc/sdk';
import type { BasketLine } from '../baskets/basket.js';
import type { RequestedTotal, TotalState } from '../baskets/total.repository.js';
import { basketView, type BasketViewInput, NO_BASKET } from './basket-view.js';

const createTotal = (state: TotalState): RequestedTotal => ({
  totalId: 7,
  basketId: 1,
  amountCents: 200,
  content: { lines: [] },
  request: null,
  idempotencyKey: null,
  state,
  invoiceReference: 'i',
  code: 'c',
  expiresAt: null,
  isWithdrawn: false,
});
const PAYMENT = { status: 'Success', invoicedAmount: 200, tenderedAmount: 110, tipAmount: 10 } as MerchantPayment;
const viewFields = (current: RequestedTotal | undefined, paid?: BasketViewInput['paid']) => {
  const { state, amountCents, codePath } = basketView({
    reference: '17',
    token: 't',
    lines: [],
    current,
    paid,
  });
  return [state, amountCents, codePath];
};

it('the view of a till without a basket equals the view of a basket without content, except for the state', () => {
  const view = basketView({ reference: null, token: 't', lines: [], current: undefined, paid: undefined });
  expect(NO_BASKET).toEqual({ ...view, state: 'empty' });
});

it.each<[TotalState | undefined, unknown[]]>([
  [undefined, ['filling', null, null]],
  ['open', ['payable', 200, '/codes/t.svg?total=7']],
  ['queued', ['waiting', 200, null]],
  ['without-invoice', ['closed', 200, null]],
  ['replaced', ['closed', 200, null]],
  ['closed', ['closed', 200, null]],
])('a basket whose newest total is %s has the state, amount and code path %j', (state, expected) => {
  expect(viewFields(state && createTotal(state))).toEqual(expected);
});

it.each<TotalState>(['open', 'queued', 'paid'])(
  'a paid basket has the paid amount without the tip, and no code, even if its total is %s',
  (state) => {
    expect(viewFields(createTotal(state), { total: createTotal('paid'), payment: PAYMENT })).toEqual([
      'paid',
      100,
      null,
    ]);
  },
);

it.each<TotalState>(['open', 'queued', 'without-invoice', 'closed'])(
  'T3: a basket whose lines have changed after its total in state %s has neither an amount nor a code',
  (state) => {
    expect(viewFields({ ...createTotal(state), isWithdrawn: true })).toEqual(['filling', null, null]);
  },
);

describe('the lines of a basket', () => {
  const apples: BasketLine = {
    id: 1,
    name: 'Apples',
    productCode: 'AP',
    price: 129,
    quantity: 0.543,
    lineTotal: 50.5,
  };
  const pears: BasketLine = { ...apples, id: 2, name: 'Pears' };
  const order = { Products: [], BasketDiscounts: [], Tenders: [] };
  const viewLines = (
    lines: readonly BasketLine[],
    content?: RequestedTotal['content'],
    changes: Partial<Pick<RequestedTotal, 'isWithdrawn'> & Pick<BasketViewInput, 'paid'>> = {},
  ) =>
    basketView({
      reference: '17',
      token: 't',
      lines,
      current: content && { ...createTotal('open'), content, isWithdrawn: changes.isWithdrawn ?? false },
      paid: changes.paid,
    }).lines;

  it('show the rounded total that the till sent with each line', () => {
    expect(viewLines([apples])).toEqual([{ name: 'Apples', quantity: 0.543, totalCents: 51 }]);
  });

  it.each<[string, Partial<Pick<RequestedTotal, 'isWithdrawn'> & Pick<BasketViewInput, 'paid'>>, string[]]>([
    ['that the till sent, if it has changed them after the total', { isWithdrawn: true }, ['Apples', 'Pears']],
    ['of the total', {}, ['Apples']],
    [
      'of the paid total',
      { isWithdrawn: true, paid: { total: { ...createTotal('paid'), content: { lines: [pears] } }, payment: PAYMENT } },
      ['Pears'],
    ],
  ])('are the lines %s', (_, changes, names) => {
    expect(viewLines([apples, pears], { lines: [apples] }, changes).map(({ name }) => name)).toEqual(names);
  });

  it('are the lines of the order, with price times quantity, if the basket was sent as a whole', () => {
    expect(viewLines([pears], { lines: [apples], order })).toEqual([
      { name: 'Apples', quantity: 0.543, totalCents: 70 },
    ]);
  });

  it('show the product code of a product without a name', () => {
    expect(viewLines([{ ...apples, name: '' }])).toEqual([{ name: 'AP', quantity: 0.543, totalCents: 51 }]);
  });
});
