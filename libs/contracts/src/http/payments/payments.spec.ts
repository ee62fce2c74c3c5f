import type { PartnerPayment, PaymentState } from '../../events/payments.js';
import { historyItemOf, type PaymentView, paymentViewOf, singlePaymentOf } from './payments.js';

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

test('a payment has the fields of the specification, and dates with milliseconds (C2)', () => {
  expect(singlePaymentOf({ ...PAYMENT, errors: ERRORS })).toStrictEqual({
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
  expect(singlePaymentOf({ ...PAYMENT, state }).status).toBe(status),
);

test('a payment in the history omits absent fields, and has null if there are no errors', () => {
  expect(historyItemOf(PAYMENT)).toStrictEqual({
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

test('a payment in the history has its invoice and the reason of its failure', () => {
  const references = { invoiceReference: 'i-1', invoiceExternalReference: 'e-1' };
  expect(historyItemOf({ ...PAYMENT, ...references, errors: ERRORS })).toMatchObject({ ...references, errors: ERRORS });
});

test.each<[PaymentState, boolean]>([
  ['verificationRequired', true],
  ['processing', false],
  ['success', false],
  ['failed', false],
])('a payment in the state %s has its verificationUrl: %s', (state, isShown) => {
  const verificationUrl = 'https://bank.example/verify';
  expect(historyItemOf({ ...PAYMENT, state, verificationUrl }).verificationUrl).toBe(
    isShown ? verificationUrl : undefined,
  );
  expect(historyItemOf({ ...PAYMENT, state })).not.toHaveProperty('verificationUrl');
});

test('a payment shows the customer whom the partner named', () => {
  const { customer, ...rest } = PAYMENT;
  const payment = { ...rest, partner: { organisationId: 'o-1', customer } } as PartnerPayment;
  expect(paymentViewOf(payment)).toMatchObject(PAYMENT);
});
