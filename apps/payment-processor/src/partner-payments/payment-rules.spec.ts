import type { MakePaymentRequest } from '@svc/contracts';
import { DomainError, type FieldProblem, ruleProblems } from '@svc/kernel';
import { paymentRules } from './payment-rules.js';
import type { Payer } from './payment-terms.js';

const CUSTOMER_REFERENCE = '0b6c3f4e-6f2a-7c3b-9d1e-7a8b9c0d1e2f';
const SERVICE: Payer = { organisationId: 'o-1', customerReference: undefined };
const CUSTOMER: Payer = { organisationId: 'o-1', customerReference: CUSTOMER_REFERENCE };
const CARD = { card: { token: 't' } };
const EXTERNAL = { external: { type: 'EFT', status: 'success', reference: 'x' } } as const;
const CLEAR = { cardNumber: '4242424242424242', cvv: '123', holderName: 'T', expiryMonth: 12, expiryYear: 2030 };
const NOW = new Date('2026-03-01T10:00:00.000Z');
const voucher = (amount: number) => ({ merchantLiable: true, amount });

const aRequest = (change: object = {}): MakePaymentRequest => ({
  reference: 'r',
  code: 'aGVsbG8=',
  amount: 100,
  customer: { id: CUSTOMER_REFERENCE },
  paymentMethod: CARD,
  ...change,
});
const problemsOf = (change: object, payer = SERVICE, malformed: FieldProblem[] = []): FieldProblem[] =>
  ruleProblems(aRequest(change), paymentRules(payer, { allowLoopbackHttp: false }, NOW), malformed);
const isForbidden = (change: object, payer: Payer): boolean => {
  try {
    problemsOf(change, payer);
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
  ])('with %j is accepted from a service', (change) => {
    expect(problemsOf(change)).toEqual([]);
  });

  const either = 'Either code or invoiceReference is required, and not both';
  const method = 'paymentMethod must have either card or external';
  const oneCard = 'card must have one of token, encryptedCard and cardNumber';
  const together = 'amount and tipAmount must not be more than 100000000000 together';
  const covered = 'vouchers must not cover more than the amount';
  it.each([
    [{ invoiceReference: 'i' }, 'code', either],
    [{ code: undefined }, 'code', either],
    [{ code: '', invoiceReference: '' }, 'code', either],
    [{ vouchers: [voucher(60), voucher(41)] }, 'vouchers', covered],
    // Vouchers may not cover the tip.
    [{ vouchers: [voucher(101)], tipAmount: 1 }, 'vouchers', covered],
    [{ amount: 100_000_000_000, tipAmount: 1 }, 'tipAmount', together],
    [{ paymentMethod: undefined }, 'paymentMethod', method],
    [{ paymentMethod: {} }, 'paymentMethod', method],
    [{ paymentMethod: { ...CARD, ...EXTERNAL } }, 'paymentMethod', method],
    [{ paymentMethod: { ...CARD, ...EXTERNAL }, vouchers: [voucher(100)] }, 'paymentMethod', method],
    [{ paymentMethod: undefined, vouchers: [voucher(99)] }, 'paymentMethod', method],
    // Vouchers cover the amount, but nothing covers the tip.
    [{ paymentMethod: undefined, vouchers: [voucher(100)], tipAmount: 1 }, 'paymentMethod', method],
    [{ paymentMethod: { card: { token: 't', cardNumber: '4' } } }, 'paymentMethod.card', oneCard],
    [{ paymentMethod: { card: { token: 't', encryptedCard: 'e' } } }, 'paymentMethod.card', oneCard],
    [{ paymentMethod: { card: { encryptedCard: 'e', cardNumber: '4' } } }, 'paymentMethod.card', oneCard],
  ])('with %j is rejected for %s', (change, field, message) => {
    expect(problemsOf(change)).toEqual([{ field, message }]);
  });

  it.each([{ vouchers: [voucher(1)] }, { paymentMethod: EXTERNAL }])(
    'of a customer cannot have vouchers or external payments: %j',
    (change) => {
      expect(isForbidden(change, CUSTOMER)).toBe(true);
    },
  );

  it('of a customer with a card, and an empty list of vouchers, is accepted', () => {
    expect(problemsOf({ vouchers: [] }, CUSTOMER)).toEqual([]);
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
  ])('with %j is rejected for %s: %s', (change, field, message) => {
    expect(problemsOf(change)).toEqual([{ field, message }]);
  });

  const coveredTooMuch = { vouchers: [voucher(101)] };
  const tooMuch = { amount: 100_000_000_000, tipAmount: 1 };
  const unpaid = { paymentMethod: undefined };
  it.each<[string, object, Payer]>([
    ['customer', { customer: undefined }, SERVICE],
    ['customer', { customer: { id: 'c-2' } }, CUSTOMER],
    ['vouchers', { vouchers: [voucher(1)] }, CUSTOMER],
    ['paymentMethod', { paymentMethod: EXTERNAL }, CUSTOMER],
    ['code', { code: undefined }, SERVICE],
    ['invoiceReference', { invoiceReference: 'i' }, SERVICE],
    ['code', { code: '%%%' }, SERVICE],
    ['amount', coveredTooMuch, SERVICE],
    ['vouchers', coveredTooMuch, SERVICE],
    ['amount', tooMuch, SERVICE],
    ['tipAmount', tooMuch, SERVICE],
    ['vouchers', tooMuch, SERVICE],
    ['amount', unpaid, SERVICE],
    ['tipAmount', unpaid, SERVICE],
    ['vouchers', unpaid, SERVICE],
    ['paymentMethod', unpaid, SERVICE],
    ['paymentMethod', { paymentMethod: { card: { token: 't', cardNumber: '4' } } }, SERVICE],
    ['returnUrl', { returnUrl: 'x' }, SERVICE],
  ])('with a malformed %s is not checked by the rules that read this field: %j', (field, change, payer) => {
    expect(problemsOf(change, payer, [{ field, message: 'malformed' }])).toEqual([]);
  });

  it('is rejected with all its problems, always in the same order', () => {
    const change = {
      returnUrl: 'ftp://partner.example/',
      paymentMethod: undefined,
      tipAmount: 200_000_000_000,
      vouchers: [voucher(101)],
      invoiceReference: 'i',
      code: '%%%',
      customer: undefined,
    };
    expect(problemsOf(change)).toEqual([
      { field: 'customer', message: 'customer is required with a service token' },
      { field: 'code', message: either },
      { field: 'code', message: 'code must be base64 or base64url' },
      { field: 'vouchers', message: covered },
      { field: 'tipAmount', message: together },
      { field: 'paymentMethod', message: method },
      { field: 'returnUrl', message: 'returnUrl must be https' },
    ]);
  });

  it('of a customer for another one is forbidden, whatever else is invalid', () => {
    expect(problemsOf({ customer: { id: CUSTOMER_REFERENCE.toUpperCase() } }, CUSTOMER)).toEqual([]);
    expect(problemsOf({ customer: undefined }, CUSTOMER)).toEqual([]);
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
  const wrong = { paymentMethod: { card: { ...CLEAR, cardNumber: '4', expiryYear: 2020 } } };
  const other = { returnUrl: 'x' };
  const otherProblem = { field: 'returnUrl', message: 'returnUrl must be an absolute URL' };

  it('is reported only with other problems, so that a retry is replayed after the card has expired', () => {
    expect(problemsOf({ ...wrong, ...other })).toEqual([otherProblem, cardNumber, expiryDate]);
    expect(problemsOf(wrong)).toEqual([]);
  });

  it.each([
    ['paymentMethod.card.expiryMonth', [cardNumber]],
    ['paymentMethod.card.expiryYear', [cardNumber]],
    ['paymentMethod.card.cardNumber', [expiryDate]],
    ['reference', [cardNumber, expiryDate]],
    // The remaining amount cannot be computed.
    ['amount', []],
    ['tipAmount', []],
    ['vouchers[0].amount', []],
  ])('with a malformed %s is reported for its other fields', (path, problems) => {
    expect(problemsOf(wrong, SERVICE, [malformed(path)])).toEqual(problems);
  });

  it.each([
    { paymentMethod: { ...wrong.paymentMethod, ...EXTERNAL } },
    { paymentMethod: { card: { token: 't' } } },
    { paymentMethod: { card: { encryptedCard: 'e' } } },
    { ...wrong, vouchers: [voucher(100)] },
    { paymentMethod: { card: 7 } },
    { paymentMethod: undefined },
  ])('is checked only if it would be charged: %j', (change) => {
    const found = problemsOf({ ...change, ...other }).map(({ field }) => field);
    expect(found.filter((field) => field.startsWith('paymentMethod.card.'))).toEqual([]);
  });
});
