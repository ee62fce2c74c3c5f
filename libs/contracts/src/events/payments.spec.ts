import { isHostedPayment, isPartnerPayment, type PaymentSnapshot } from './payments.js';

const payment = (change: object): PaymentSnapshot => change as PaymentSnapshot;
const partner = { organisationId: 'o', customer: { id: 'c', firstName: '', lastName: '' } };

test.each([
  ['session', true],
  ['invoice', false],
  ['code', false],
])('a payment with a source of kind %s is a hosted payment: %s', (kind, expected) => {
  expect(isHostedPayment(payment({ source: { kind } }))).toBe(expected);
});

test('a payment with a partner belongs to the partner, and a payment without one does not (P5)', () => {
  expect(isPartnerPayment(payment({ partner, merchantName: 'm', siteReference: 's' }))).toBe(true);
  expect(isPartnerPayment(payment({ merchantName: 'm', siteReference: 's' }))).toBe(false);
});

test.each([{ merchantName: 'm' }, { siteReference: 's' }, {}])(
  "a partner's payment with %j alone is not whole",
  (rest) => {
    expect(() => isPartnerPayment(payment({ partner, ...rest }))).toThrow('neither its merchant nor its till');
  },
);
