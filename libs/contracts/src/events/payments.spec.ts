import { isHostedPayment, isPartnerPayment, type PaymentSnapshot } from './payments.js';

const payment = (change: object): PaymentSnapshot => change as PaymentSnapshot;
const partner = { organisationId: 'o', customer: { id: 'c', firstName: '', lastName: '' } };

test.each([
  ['session', true],
  ['invoice', false],
  ['code', false],
])('a payment of a source of kind %s is hosted: %s', (kind, expected) => {
  expect(isHostedPayment(payment({ source: { kind } }))).toBe(expected);
});

test("a payment with a partner is the partner's, one without is not (P5)", () => {
  expect(isPartnerPayment(payment({ partner, merchantName: 'm', siteReference: 's' }))).toBe(true);
  expect(isPartnerPayment(payment({ merchantName: 'm', siteReference: 's' }))).toBe(false);
});

test.each([{ merchantName: 'm' }, { siteReference: 's' }, {}])(
  "a partner's payment with %j alone is not whole",
  (rest) => {
    expect(() => isPartnerPayment(payment({ partner, ...rest }))).toThrow('neither its merchant nor its till');
  },
);
