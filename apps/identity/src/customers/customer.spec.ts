import { toCustomerView } from './customer.js';

test('toCustomerView omits the mode of a customer, and returns its date with milliseconds (C2)', () => {
  const customer = { customerReference: 'c-1', userId: 'u-1', organisationId: 'o-1' };
  expect(toCustomerView({ ...customer, mode: 'test', createdAt: new Date('2026-03-01T10:00:00Z') })).toStrictEqual({
    ...customer,
    createdUTCDate: '2026-03-01T10:00:00.000Z',
  });
});
