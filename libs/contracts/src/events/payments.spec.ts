import { isHostedPayment, isPartnerPayment, type PaymentSnapshot } from './payments.js';

const createSnapshot = (change: object): PaymentSnapshot => change as PaymentSnapshot;
const partner = { organisationId: 'o', customer: { id: 'c', firstName: '', lastName: '' } };

test.each([
  ['session', true],
  ['invoice', false],
  ['code', false],
])('a payment with a source of kind %s is a hosted payment: %s', (kind, expected) => {
  expect(isHostedPayment(createSnapshot({ source: { kind } }))).toBe(expected);
});

test('a payment with a partner is a partner payment, and a payment without a partner is not (P5)', () => {
  expect(isPartnerPayment(createSnapshot({ partner, merchantName: 'm', siteReference: 's' }))).toBe(true);
  expect(isPartnerPayment(createSnapshot({ merchantName: 'm', siteReference: 's' }))).toBe(false);
});

test.each([{ merchantName: 'm' }, { siteReference: 's' }, {}])(
  "a partner's payment that has only %j is refused as incomplete",
  (rest) => {
    expect(() => isPartnerPayment(createSnapshot({ partner, ...rest }))).toThrow('neither its merchant nor its till');
  },
);
