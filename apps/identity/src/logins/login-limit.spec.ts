import { requiredCustomers } from './login-limit.js';

test.each([
  [0, 0],
  [99, 0],
  [100, 1],
  [104, 1],
  [105, 2],
  [110, 3],
  [9_999, 1_980],
  // After this number of failures no login is allowed.
  [10_000, undefined],
])('after %d failures from an address, another login from it requires %p customers', (failures, customers) => {
  expect(requiredCustomers(failures)).toBe(customers);
});
