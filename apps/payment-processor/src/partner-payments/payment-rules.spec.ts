import type { MakePaymentRequest } from '@svc/contracts';
import { DomainError, type FieldProblem, ruleProblems } from '@svc/kernel';
import { paymentRules } from './payment-rules.js';
import type { Payer } from './payment-terms.js';

const CUSTOMER_REFERENCE = '0b6c3f4e-6f2a-7c3b-9d1e-7a8b9c0d1e2f';
const SERVICE: Payer = { organisationId: 'o-1', customerReference: undefined };
const CUSTOMER: Payer = { organisationId: 'o-1', customerReference: CUSTOMER_REFERENCE };
const CARD = { card: { token: 't' } };
const EXTERNAL = { external: { type: 'EFT', status: 'success', reference: 'x' } } as const;
const PLAIN_CARD = { cardNumber: '4242424242424242', cvv: '123', holderName: 'T', expiryMonth: 12, expiryYear: 2030 };
const NOW = new Date('2026-03-01T10:00:00.000Z');
const voucher = (amount: number) => ({ merchantLiable: true, amount });

const buildRequest = (change: object = {}): MakePaymentRequest => ({
  reference: 'r',
  code: 'aGVsbG8=',
  amount: 100,
  customer: { id: CUSTOMER_REFERENCE },
  paymentMethod: CARD,
  ...change,
});
const findProblems = (change: object, payer = SERVICE, malformed: FieldProblem[] = []): FieldProblem[] =>
  ruleProblems(buildRequest(change), paymentRules(payer, { allowLoopbackHttp: false }, NOW), malformed);
const isForbidden = (change: object, payer: Payer): boolean => {
  try {
    findProblems(change, payer);
    return false;
  } catch (error) {
    if (error instanceof DomainError && error.code === 'credentials.forbidden') return true;
    throw error;
  }
};

describe('a request', () => {
  it.each([
    {},
    { code: null, invoiceReference: 'i' },
    { paymentMethod: EXTERNAL },
    { vouchers: [] },
    { vouchers: [voucher(60), voucher(40)], paymentMethod: undefined },
    { vouchers: [voucher(100)], paymentMethod: null },
    { vouchers: [voucher(99)] },
    { amount: 99_999_999_999, tipAmount: 1 },
    { amount: 100_000_000_000, tipAmount: 1, vouchers: [voucher(1)] },
    { paymentMethod: { card: { token: '', encryptedCard: null, cardNumber: '4' } } },
    { returnUrl: null },
    { returnUrl: 'https://partner.example/'.padEnd(2_048, 'x') },
  ])('is accepted if it has %j and a service token', (change) => {
    expect(findProblems(change)).toEqual([]);
  });

  const EITHER_MESSAGE = 'Either code or invoiceReference is required, and not both';
  const METHOD_MESSAGE = 'paymentMethod must have either card or external';
  const ONE_CARD_MESSAGE = 'card must have one of token, encryptedCard and cardNumber';
  const TOTAL_MESSAGE = 'amount and tipAmount must not be more than 100000000000 together';
  const VOUCHERS_MESSAGE = 'vouchers must not cover more than the amount';
  it.each([
    [{ invoiceReference: 'i' }, 'code', EITHER_MESSAGE],
    [{ code: undefined }, 'code', EITHER_MESSAGE],
    [{ code: '', invoiceReference: '' }, 'code', EITHER_MESSAGE],
    [{ vouchers: [voucher(60), voucher(41)] }, 'vouchers', VOUCHERS_MESSAGE],
    // Vouchers may not cover the tip.
    [{ vouchers: [voucher(101)], tipAmount: 1 }, 'vouchers', VOUCHERS_MESSAGE],
    [{ amount: 100_000_000_000, tipAmount: 1 }, 'tipAmount', TOTAL_MESSAGE],
    [{ paymentMethod: undefined }, 'paymentMethod', METHOD_MESSAGE],
    [{ paymentMethod: {} }, 'paymentMethod', METHOD_MESSAGE],
    [{ paymentMethod: { ...CARD, ...EXTERNAL } }, 'paymentMethod', METHOD_MESSAGE],
    [{ paymentMethod: { ...CARD, ...EXTERNAL }, vouchers: [voucher(100)] }, 'paymentMethod', METHOD_MESSAGE],
    [{ paymentMethod: undefined, vouchers: [voucher(99)] }, 'paymentMethod', METHOD_MESSAGE],
    // Vouchers cover the amount, but nothing covers the tip.
    [{ paymentMethod: undefined, vouchers: [voucher(100)], tipAmount: 1 }, 'paymentMethod', METHOD_MESSAGE],
    [{ paymentMethod: { card: { token: 't', cardNumber: '4' } } }, 'paymentMethod.card', ONE_CARD_MESSAGE],
    [{ paymentMethod: { card: { token: 't', encryptedCard: 'e' } } }, 'paymentMethod.card', ONE_CARD_MESSAGE],
    [{ paymentMethod: { card: { encryptedCard: 'e', cardNumber: '4' } } }, 'paymentMethod.card', ONE_CARD_MESSAGE],
  ])('is rejected if it has %j, with an error for %s', (change, field, message) => {
    expect(findProblems(change)).toEqual([{ field, message }]);
  });

  it.each([{ vouchers: [voucher(1)] }, { paymentMethod: EXTERNAL }])(
    'is forbidden if a customer sends vouchers or an external payment: %j',
    (change) => {
      expect(isForbidden(change, CUSTOMER)).toBe(true);
    },
  );

  it('is accepted if a customer sends a card and an empty list of vouchers', () => {
    expect(findProblems({ vouchers: [] }, CUSTOMER)).toEqual([]);
  });

  it.each([
    [{ code: '%%%' }, 'code', 'code must be base64 or base64url'],
    [{ code: 'IA==' }, 'code', 'code must not be empty'],
    [{ customer: undefined }, 'customer', 'customer is required with a service token'],
    [{ customer: null }, 'customer', 'customer is required with a service token'],
    [{ returnUrl: 'http://partner.example/' }, 'returnUrl', 'returnUrl must be https'],
    [
      { returnUrl: `https://partner.example/${'é'.repeat(1_000)}` },
      'returnUrl',
      'returnUrl must be at most 2048 characters when it is encoded',
    ],
  ])('is rejected if it has %j, with an error for %s: %s', (change, field, message) => {
    expect(findProblems(change)).toEqual([{ field, message }]);
  });

  const tooManyVouchers = { vouchers: [voucher(101)] };
  const tooLargeTotal = { amount: 100_000_000_000, tipAmount: 1 };
  const withoutMethod = { paymentMethod: undefined };
  it.each<[string, object, Payer]>([
    ['customer', { customer: undefined }, SERVICE],
    ['customer', { customer: { id: 'c-2' } }, CUSTOMER],
    ['vouchers', { vouchers: [voucher(1)] }, CUSTOMER],
    ['paymentMethod', { paymentMethod: EXTERNAL }, CUSTOMER],
    ['code', { code: undefined }, SERVICE],
    ['invoiceReference', { invoiceReference: 'i' }, SERVICE],
    ['code', { code: '%%%' }, SERVICE],
    ['amount', tooManyVouchers, SERVICE],
    ['vouchers', tooManyVouchers, SERVICE],
    ['amount', tooLargeTotal, SERVICE],
    ['tipAmount', tooLargeTotal, SERVICE],
    ['vouchers', tooLargeTotal, SERVICE],
    ['amount', withoutMethod, SERVICE],
    ['tipAmount', withoutMethod, SERVICE],
    ['vouchers', withoutMethod, SERVICE],
    ['paymentMethod', withoutMethod, SERVICE],
    ['paymentMethod', { paymentMethod: { card: { token: 't', cardNumber: '4' } } }, SERVICE],
    ['returnUrl', { returnUrl: 'x' }, SERVICE],
  ])('is not checked by the rules that read %s if this field is malformed: %j', (field, change, payer) => {
    expect(findProblems(change, payer, [{ field, message: 'malformed' }])).toEqual([]);
  });

  it('is rejected with all errors in a fixed order if it has several invalid fields', () => {
    const change = {
      returnUrl: 'ftp://partner.example/',
      paymentMethod: undefined,
      tipAmount: 200_000_000_000,
      vouchers: [voucher(101)],
      invoiceReference: 'i',
      code: '%%%',
      customer: undefined,
    };
    expect(findProblems(change)).toEqual([
      { field: 'customer', message: 'customer is required with a service token' },
      { field: 'code', message: EITHER_MESSAGE },
      { field: 'code', message: 'code must be base64 or base64url' },
      { field: 'vouchers', message: VOUCHERS_MESSAGE },
      { field: 'tipAmount', message: TOTAL_MESSAGE },
      { field: 'paymentMethod', message: METHOD_MESSAGE },
      { field: 'returnUrl', message: 'returnUrl must be https' },
    ]);
  });

  it('is forbidden if a customer sends it for another customer, even with other invalid fields', () => {
    expect(findProblems({ customer: { id: CUSTOMER_REFERENCE.toUpperCase() } }, CUSTOMER)).toEqual([]);
    expect(findProblems({ customer: undefined }, CUSTOMER)).toEqual([]);
    expect(isForbidden({ customer: { id: 'c-2' }, code: '%%%' }, CUSTOMER)).toBe(true);
    expect(isForbidden({ paymentMethod: EXTERNAL, code: '%%%' }, CUSTOMER)).toBe(true);
  });
});

describe('a plain-text card', () => {
  const cardNumber = { field: 'paymentMethod.card.cardNumber', message: 'The card number is not valid.' };
  const expiryDate = {
    field: 'paymentMethod.card.expiryDate',
    message: 'The expiry date is not valid or has passed.',
  };
  const malformed = (field: string): FieldProblem => ({ field, message: 'malformed' });
  const invalidCard = { paymentMethod: { card: { ...PLAIN_CARD, cardNumber: '4', expiryYear: 2020 } } };
  const otherInvalidField = { returnUrl: 'x' };
  const otherProblem = { field: 'returnUrl', message: 'returnUrl must be an absolute URL' };

  it('is reported as invalid only with other errors, so that a retry with an expired card still gets the first response', () => {
    expect(findProblems({ ...invalidCard, ...otherInvalidField })).toEqual([otherProblem, cardNumber, expiryDate]);
    expect(findProblems(invalidCard)).toEqual([]);
  });

  it.each([
    ['paymentMethod.card.expiryMonth', [cardNumber]],
    ['paymentMethod.card.expiryYear', [cardNumber]],
    ['paymentMethod.card.cardNumber', [expiryDate]],
    ['reference', [cardNumber, expiryDate]],
    // With these malformed fields the amount for the card cannot be computed, so the card is not checked.
    ['amount', []],
    ['tipAmount', []],
    ['vouchers[0].amount', []],
  ])('has, besides a malformed %s in the request, the problems %j', (path, problems) => {
    expect(findProblems(invalidCard, SERVICE, [malformed(path)])).toEqual(problems);
  });

  it.each([
    { paymentMethod: { ...invalidCard.paymentMethod, ...EXTERNAL } },
    { paymentMethod: { card: { token: 't' } } },
    { paymentMethod: { card: { encryptedCard: 'e' } } },
    { ...invalidCard, vouchers: [voucher(100)] },
    { paymentMethod: { card: 7 } },
    { paymentMethod: undefined },
  ])('is not checked if the request would not charge this card: %j', (change) => {
    const problemFields = findProblems({ ...change, ...otherInvalidField }).map(({ field }) => field);
    expect(problemFields.filter((field) => field.startsWith('paymentMethod.card.'))).toEqual([]);
  });
});
