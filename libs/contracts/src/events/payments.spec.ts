import { type AnyPaymentSnapshot, isHosted, isPartners } from './payments.js';

const payment = (change: object): AnyPaymentSnapshot => change as AnyPaymentSnapshot;
const partner = { organisationId: 'o', customer: { id: 'c', firstName: '', lastName: '' } };

test.each([
  ['session', true],
  ['invoice', false],
  ['code', false],
])('a payment of a source of kind %s is hosted: %s', (kind, expected) => {
  expect(isHosted(payment({ source: { kind } }))).toBe(expected);
});

test("a payment with a partner is the partner's, one without is not (P5)", () => {
  expect(isPartners(payment({ partner, merchantName: 'm', siteReference: 's' }))).toBe(true);
  expect(isPartners(payment({ merchantName: 'm', siteReference: 's' }))).toBe(false);
});

test.each([{ merchantName: 'm' }, { siteReference: 's' }, {}])(
  "a partner's payment with %j alone is not whole",
  (rest) => {
    expect(() => isPartners(payment({ partner, ...rest }))).toThrow('neither its merchant nor its till');
  },
);
