import type { PartnerPayment, PaymentState } from '../../events/payments.js';
import { buildHistoryItem, buildPaymentView, buildSinglePayment, type PaymentView } from './payments.js';

const PAYMENT: PaymentView = {
  reference: 'r-1',
  paymentReference: '1H2J3K4M5N6P7Q8R92',
  state: 'success',
  currencyISOCode: 'ZAR',
  invoicedAmount: 1,
  amount: 2,
  tipAmount: 3,
  processedAmount: 5,
  paymentUTCDate: '2026-03-01T11:59:58+02:00',
  modifiedUTCDate: '2026-03-01T12:00:01.5+02:00',
  paymentMethodType: 'Card',
  paymentMethodLabel: '**** 4242',
  errors: [],
  merchantName: 'Karoo Books',
  siteReference: 'TILL-1',
  customer: { id: 'c-1', firstName: 'Ada', lastName: 'L' },
};
const ERRORS = [{ errorReference: '10', message: 'Declined.' }];

test('a single payment has the fields of the specification, and dates with milliseconds (C2)', () => {
  expect(buildSinglePayment({ ...PAYMENT, errors: ERRORS })).toStrictEqual({
    reference: 'r-1',
    paymentReference: '1H2J3K4M5N6P7Q8R92',
    merchantName: 'Karoo Books',
    status: 1,
    paymentMethodLabel: '**** 4242',
    currencyISOCode: 'ZAR',
    invoicedAmount: 1,
    amount: 2,
    tipAmount: 3,
    processedAmount: 5,
    modifiedUTCDate: '2026-03-01T10:00:01.500Z',
    errors: ERRORS,
  });
});

test.each<[PaymentState, number]>([
  ['success', 1],
  ['failed', 2],
  ['verificationRequired', 3],
  ['processing', 4],
])('the state %s has the numeric status %d (P2)', (state, status) =>
  expect(buildSinglePayment({ ...PAYMENT, state }).status).toBe(status),
);

test('a payment in the history omits absent fields, and its `errors` are null if there are no errors', () => {
  expect(buildHistoryItem(PAYMENT)).toStrictEqual({
    reference: 'r-1',
    merchantName: 'Karoo Books',
    currencyISOCode: 'ZAR',
    invoicedAmount: 1,
    paymentReference: '1H2J3K4M5N6P7Q8R92',
    paymentUTCDate: '2026-03-01T09:59:58.000Z',
    paymentMethodType: 'Card',
    paymentMethodDescription: '**** 4242',
    status: 'success',
    tipAmount: 3,
    processedAmount: 5,
    customer: { id: 'c-1', firstName: 'Ada', lastName: 'L' },
    siteReference: 'TILL-1',
    errors: null,
  });
});

test('a payment in the history contains the references of its invoice, and the errors of a failure', () => {
  const references = { invoiceReference: 'i-1', invoiceExternalReference: 'e-1' };
  expect(buildHistoryItem({ ...PAYMENT, ...references, errors: ERRORS })).toMatchObject({
    ...references,
    errors: ERRORS,
  });
});

test.each<[PaymentState, boolean]>([
  ['verificationRequired', true],
  ['processing', false],
  ['success', false],
  ['failed', false],
])('a payment of the history in the state %s contains its verificationUrl: %s', (state, isShown) => {
  const verificationUrl = 'https://bank.example/verify';
  expect(buildHistoryItem({ ...PAYMENT, state, verificationUrl }).verificationUrl).toBe(
    isShown ? verificationUrl : undefined,
  );
  expect(buildHistoryItem({ ...PAYMENT, state })).not.toHaveProperty('verificationUrl');
});

test('buildPaymentView returns the customer that the partner sent', () => {
  const { customer, ...rest } = PAYMENT;
  const payment = { ...rest, partner: { organisationId: 'o-1', customer } } as PartnerPayment;
  expect(buildPaymentView(payment)).toMatchObject(PAYMENT);
});
