import { MalformedPaymentError, MAX_AMOUNT_CENTS } from '../hosted-payment.js';
import { readPartnerCard, readPartnerPayment } from './partner-payment.js';

const PAYMENT = {
  reference: 'r-1',
  paymentReference: '1VQ5K3P0ABCDEFGHJK',
  merchantName: 'Karoo Books',
  currencyISOCode: 'ZAR',
  invoicedAmount: 12_345,
  tipAmount: 0,
  processedAmount: 12_345,
  paymentUTCDate: '2026-11-20T18:03:36.123Z',
  paymentMethodType: 'Card',
  paymentMethodDescription: '**** 4242',
  status: 'success',
  customer: { id: 'c-1', firstName: '', lastName: '' },
  siteReference: 'TILL-1',
};
const CARD = {
  token: 'card_1',
  cardMask: '**** 4242',
  holderName: 'T Payer',
  expiryMonth: 12,
  expiryYear: 2030,
  brand: 'visa',
};

const malformedField = (read: () => unknown): string => {
  try {
    read();
  } catch (error) {
    if (error instanceof MalformedPaymentError) return error.field;
    throw error;
  }
  return 'nothing is malformed';
};

test('readPartnerPayment returns the fields of the specification, and no other fields', () => {
  expect(readPartnerPayment({ ...PAYMENT, errors: null, note: 'unknown' })).toEqual({ ...PAYMENT, errors: [] });
  const optional = { invoiceReference: 'i', invoiceExternalReference: 'e', verificationUrl: 'https://bank.example/' };
  const errors = [{ message: 'Declined.', errorReference: '10' }];
  expect(readPartnerPayment({ ...PAYMENT, ...optional, errors })).toEqual({ ...PAYMENT, ...optional, errors });
});

test.each([...Object.keys(PAYMENT), 'payment'])('a payment without %s is malformed', (field) => {
  for (const value of [undefined, null, true]) {
    const body = field === 'payment' ? value : { ...PAYMENT, [field]: value };
    expect(malformedField(() => readPartnerPayment(body))).toBe(field);
  }
});

test.each(['invoiceReference', 'invoiceExternalReference', 'verificationUrl'])(
  '%s must be text if it is present',
  (field) => {
    expect(malformedField(() => readPartnerPayment({ ...PAYMENT, [field]: null }))).toBe(field);
  },
);

test.each(['id', 'firstName', 'lastName'])('a customer must have %s as text', (field) => {
  const customer = { ...PAYMENT.customer, [field]: undefined };
  expect(malformedField(() => readPartnerPayment({ ...PAYMENT, customer }))).toBe(field);
});

test.each(['processing', 'success', 'failed', 'verificationRequired'])('%s is a payment status', (status) => {
  expect(readPartnerPayment({ ...PAYMENT, status }).status).toBe(status);
});

test.each(['', 'Success', 'declined'])('%j is not a payment status', (status) => {
  expect(malformedField(() => readPartnerPayment({ ...PAYMENT, status }))).toBe('status');
});

test.each([
  ['invoicedAmount', MAX_AMOUNT_CENTS],
  ['tipAmount', MAX_AMOUNT_CENTS],
  ['processedAmount', 2 * MAX_AMOUNT_CENTS],
])('the field %s of a payment is at most %d', (field, max) => {
  expect(readPartnerPayment({ ...PAYMENT, [field]: max })).toMatchObject({ [field]: max });
  expect(malformedField(() => readPartnerPayment({ ...PAYMENT, [field]: max + 1 }))).toBe(field);
});

test('readPartnerCard returns the fields of the specification, and no other fields', () => {
  expect(readPartnerCard({ ...CARD, cardNumber: '4242424242424242' })).toEqual(CARD);
});

test.each([...Object.keys(CARD), 'card'])('a stored card without %s is malformed', (field) => {
  expect(malformedField(() => readPartnerCard(field === 'card' ? undefined : { ...CARD, [field]: undefined }))).toBe(
    field,
  );
});

test.each([
  ['expiryMonth', 12],
  ['expiryYear', 9_999],
])('the field %s of a stored card is at most %d', (field, max) => {
  expect(readPartnerCard({ ...CARD, [field]: max })).toMatchObject({ [field]: max });
  expect(malformedField(() => readPartnerCard({ ...CARD, [field]: max + 1 }))).toBe(field);
});
