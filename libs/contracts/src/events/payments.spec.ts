import { isHostedPayment, isPartnerPayment, type PaymentSnapshot } from './payments.js';

const createSnapshot = (change: object): PaymentSnapshot => change as PaymentSnapshot;
const partner = { organisationId: 'o', customer: { id: 'c', firstName: '', lastName: '' } };

test.each([
  ['session', true],
  ['invoice', false],
])('a payment with a source of kind %s is a hosted payment: %s', (kind, expected) => {
  expect(isHostedPayment(createSnapshot({ source: { kind } }))).toBe(expected);
});

test('a payment with a partner is a partner payment, and a payment without a partner is not (P5)', () => {
  expect(isPartnerPayment(createSnapshot({ partner }))).toBe(true);
  expect(isPartnerPayment(createSnapshot({}))).toBe(false);
});
