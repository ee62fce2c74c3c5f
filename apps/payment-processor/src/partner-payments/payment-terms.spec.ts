import { MAX_AMOUNT_CENTS, type MakePaymentRequest } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { checkRequest, checkTerms, customerOf, fingerprintOf, type Owed } from './payment-terms.js';

const SERVER = { organisationId: 'a', customerReference: undefined };
const CUSTOMER = { organisationId: 'a', customerReference: 'c-1' };
const CARD = { card: { token: 'card_1' } };
const EXTERNAL = { external: { type: 'EFT', status: 'success', reference: 'bank-1' } };
const voucher = (amount: number) => ({ merchantLiable: true, amount });

const request = (over: object = {}): MakePaymentRequest =>
  ({
    reference: 'r',
    invoiceReference: 'i',
    amount: 1_000,
    paymentMethod: CARD,
    ...over,
  }) as unknown as MakePaymentRequest;
/** `passes`, or the code and the first field of what was thrown. */
function outcomeOf(check: () => unknown): string {
  try {
    check();
    return 'passes';
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return [error.code, error.fields[0]?.field].filter(Boolean).join(' ');
  }
}

test.each([
  ['its own', CUSTOMER, { customer: undefined }, 'c-1'],
  ['its own, named in capitals', CUSTOMER, { customer: { id: 'C-1' } }, 'c-1'],
  ['that of another', CUSTOMER, { customer: { id: 'c-2' } }, 'credentials.forbidden'],
  ['any, of a server', SERVER, { customer: { id: 'C-2' } }, 'c-2'],
  ['none, of a server', SERVER, { customer: undefined }, 'request.invalid customer'],
])('the customer of a payment: %s', (_, payer, over, expected) => {
  let id = '';
  const outcome = outcomeOf(() => (id = customerOf(payer, request(over)).id));
  expect(outcome === 'passes' ? id : outcome).toBe(expected);
});

test.each<[string, typeof SERVER | typeof CUSTOMER, object, string]>([
  ['a card', SERVER, {}, 'passes'],
  ['vouchers of a customer', CUSTOMER, { vouchers: [voucher(1)] }, 'credentials.forbidden'],
  ['an external payment of a customer', CUSTOMER, { paymentMethod: EXTERNAL }, 'credentials.forbidden'],
  ['no vouchers of a customer', CUSTOMER, { vouchers: [] }, 'passes'],
  ['neither a code nor an invoice', SERVER, { invoiceReference: undefined }, 'request.invalid code'],
  ['a code and an invoice', SERVER, { code: 'x' }, 'request.invalid code'],
  ['an empty code and an invoice', SERVER, { code: '' }, 'passes'],
  ['vouchers over the amount', SERVER, { vouchers: [voucher(600), voucher(401)] }, 'request.invalid vouchers'],
  ['vouchers of the amount', SERVER, { vouchers: [voucher(600), voucher(400)], paymentMethod: undefined }, 'passes'],
  [
    'vouchers of the amount, and a tip',
    SERVER,
    { vouchers: [voucher(1_000)], tipAmount: 1, paymentMethod: undefined },
    'request.invalid paymentMethod',
  ],
  ['as much as the acquirer takes', SERVER, { tipAmount: MAX_AMOUNT_CENTS - 1_000 }, 'passes'],
  ['a cent more', SERVER, { tipAmount: MAX_AMOUNT_CENTS - 999 }, 'request.invalid tipAmount'],
  ['a cent more, and a voucher', SERVER, { tipAmount: MAX_AMOUNT_CENTS - 999, vouchers: [voucher(1)] }, 'passes'],
  ['no method', SERVER, { paymentMethod: undefined }, 'request.invalid paymentMethod'],
  ['both methods', SERVER, { paymentMethod: { ...CARD, ...EXTERNAL } }, 'request.invalid paymentMethod'],
  [
    'both methods where nothing is left',
    SERVER,
    { vouchers: [voucher(1_000)], paymentMethod: { ...CARD, ...EXTERNAL } },
    'request.invalid paymentMethod',
  ],
  [
    'two cards',
    SERVER,
    { paymentMethod: { card: { token: 'card_1', cardNumber: '4' } } },
    'request.invalid paymentMethod.card',
  ],
])('a request with %s', (_, payer, over, expected) => {
  expect(outcomeOf(() => checkRequest(payer, request(over)))).toBe(expected);
});

const grant = (over: object = {}) => ({ organisationId: 'a', vouchers: true, externalPayments: true, ...over });
test.each<[string, object, Partial<Owed>, string]>([
  ['what is owed', {}, {}, 'passes'],
  ['vouchers, granted', { vouchers: [voucher(1)] }, { grants: [grant({ externalPayments: false })] }, 'passes'],
  [
    'vouchers, not granted',
    { vouchers: [voucher(1)] },
    { grants: [grant({ vouchers: false })] },
    'credentials.forbidden',
  ],
  [
    'vouchers, granted to another',
    { vouchers: [voucher(1)] },
    { grants: [grant({ organisationId: 'b' })] },
    'credentials.forbidden',
  ],
  ['an external payment, granted', { paymentMethod: EXTERNAL }, { grants: [grant({ vouchers: false })] }, 'passes'],
  [
    'an external payment, not granted',
    { paymentMethod: EXTERNAL },
    { grants: [grant({ externalPayments: false })] },
    'credentials.forbidden',
  ],
  ['another amount', { amount: 999 }, {}, 'payable.mismatch'],
  ['another amount, editable', { amount: 999 }, { features: { amount: { editable: true } } }, 'passes'],
  ['a tip', { tipAmount: 1 }, {}, 'payment.not-accepted tipAmount'],
  ['no tip', { tipAmount: 0 }, {}, 'passes'],
  ['a tip, enabled', { tipAmount: 1 }, { features: { tip: { enabled: true } } }, 'passes'],
  ['an orderReference', { orderReference: 'x' }, {}, 'passes'],
  [
    'no orderReference where it is required',
    {},
    { features: { orderReference: { required: true } } },
    'payment.not-accepted orderReference',
  ],
  [
    'an orderReference where it is required and not editable',
    { orderReference: 'x' },
    { features: { orderReference: { required: true, editable: false } } },
    'passes',
  ],
  [
    'an orderReference where none is taken',
    { orderReference: 'x' },
    { features: { orderReference: { editable: false } } },
    'payment.not-accepted orderReference',
  ],
  ['none where none is taken', {}, { features: { orderReference: { editable: false } } }, 'passes'],
])('the terms of a merchant and %s', (_, over, owed, expected) => {
  const whole: Owed = { amount: 1_000, features: {}, grants: [], ...owed };
  expect(outcomeOf(() => checkTerms(SERVER, request(over), whole))).toBe(expected);
});

describe('the fingerprint of a request', () => {
  const customer = { id: 'c-1', firstName: '', lastName: '' };
  const of = (over: object = {}) => fingerprintOf(request(over), customer);

  test.each([
    { code: 'x' },
    { invoiceReference: 'j' },
    { amount: 1 },
    { tipAmount: 1 },
    { orderReference: 'x' },
    { vouchers: [voucher(1)] },
    { paymentMethod: EXTERNAL },
  ])('is another with %j', (over) => {
    expect(of(over)).not.toBe(of());
  });

  test('is another for another customer, and the same with another card and in capitals', () => {
    for (const change of [{ id: 'c-2' }, { firstName: 'A' }, { lastName: 'K' }])
      expect(fingerprintOf(request(), { ...customer, ...change })).not.toBe(of());
    expect(
      of({ paymentMethod: { card: { token: 'card_2' } }, invoiceReference: 'I', tipAmount: 0, vouchers: [] }),
    ).toBe(of());
  });
});
