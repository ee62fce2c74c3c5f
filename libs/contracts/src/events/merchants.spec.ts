import { sessionFeatures } from './merchants.js';

const orderReference = { label: 'Table', required: true };

test('a hosted session has only the order reference feature of its merchant (E2)', () => {
  const features = { amount: { editable: true }, tip: { enabled: true }, orderReference };
  expect(sessionFeatures(features)).toEqual({ orderReference });
});

test('a hosted session has no features if its merchant does not have the order reference feature', () => {
  expect(sessionFeatures({ amount: { editable: true } })).toStrictEqual({});
});
