import type { Total, TotalState } from '../baskets/total.repository.js';
import type { BasketPayment } from '../payments/payment.repository.js';
import { basketView } from './basket-view.js';

const createTotal = (state: TotalState): Total => ({
  totalId: 7,
  basketId: 1,
  amountCents: 200,
  content: { lines: [] },
  request: null,
  state,
  invoiceReference: 'i',
  code: 'c',
  expiresAt: null,
});
const createPayment = (status: 'Success' | 'Failed') =>
  ({ payment: { status, invoicedAmount: 200, tenderedAmount: 110, tipAmount: 10 } }) as BasketPayment;
const viewFields = (current: Total | undefined, paid?: BasketPayment) => {
  const { state, amountCents, codePath } = basketView({
    reference: '17',
    token: 't',
    lines: [],
    current,
    payment: paid,
  });
  return [state, amountCents, codePath];
};

it.each<[TotalState | undefined, unknown[]]>([
  [undefined, ['filling', null, null]],
  ['open', ['payable', 200, '/codes/t.svg?total=7']],
  ['queued', ['waiting', 200, null]],
  ['without-invoice', ['closed', 200, null]],
  ['replaced', ['closed', 200, null]],
  ['closed', ['closed', 200, null]],
])(
  'a basket whose newest total is %s has the state, amount and code path %j, before and after a failed payment',
  (state, expected) => {
    expect(viewFields(state && createTotal(state))).toEqual(expected);
    expect(viewFields(state && createTotal(state), createPayment('Failed'))).toEqual(expected);
  },
);

it.each<TotalState>(['open', 'queued', 'paid'])(
  'a paid basket has the paid amount without the tip, and no code, even if its total is %s',
  (state) => {
    expect(viewFields(createTotal(state), createPayment('Success'))).toEqual(['paid', 100, null]);
  },
);
