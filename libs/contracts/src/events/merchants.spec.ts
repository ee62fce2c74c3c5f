import { sessionFeatures } from './merchants.js';

const orderReference = { label: 'Table', required: true };

test('a hosted session keeps what a merchant says of order references, and no other feature (E2)', () => {
  const features = { amount: { editable: true }, tip: { enabled: true }, orderReference };
  expect(sessionFeatures(features)).toEqual({ orderReference });
});

test('a hosted session has no features where the merchant says nothing of order references', () => {
  expect(sessionFeatures({ amount: { editable: true } })).toStrictEqual({});
});
