import { computeAmountLimits, restrictToSessionFeatures } from './merchants.js';

const orderReference = { label: 'Table', required: true };

test('a hosted session has only the order reference feature of its merchant (E2)', () => {
  const features = { amount: { editable: true }, tip: { enabled: true }, orderReference };
  expect(restrictToSessionFeatures(features)).toEqual({ orderReference });
});

test('a hosted session has no features if its merchant does not have the order reference feature', () => {
  expect(restrictToSessionFeatures({ amount: { editable: true } })).toStrictEqual({});
});

describe('the limits of an edited amount (P6)', () => {
  it.each([
    [1, 10],
    [8_950, 89_500],
    [500_000, 5_000_000],
    [500_001, 5_000_000],
    [5_000_000, 5_000_000],
    [5_000_001, 5_000_001],
  ])('for an amount due of %d have by default the maximum %d', (amountDue, max) => {
    expect(computeAmountLimits(amountDue, { minimumAmount: 1, maximumAmount: null })).toEqual({
      ...{ min: 1, max },
      tipMax: amountDue,
    });
  });

  it.each([
    [10_000_000, 10_000_000],
    [101, 101],
    [100, 100],
    [99, 100],
  ])('for a maximum of %d and an amount due of 100 have the maximum %d', (maximumAmount, max) => {
    expect(computeAmountLimits(100, { minimumAmount: 200, maximumAmount })).toEqual({ min: 100, max, tipMax: 100 });
  });
});
