import { PaymentStatus, readPaymentStatus, readResponseStatus, ResponseStatus } from './payment-status.js';

test.each([
  ['Success', PaymentStatus.Success],
  [1, PaymentStatus.Success],
  ['Failed', PaymentStatus.Failed],
  [2, PaymentStatus.Failed],
])('readPaymentStatus accepts %j, because readers accept text and numbers (H4)', (value, status) => {
  expect(readPaymentStatus(value)).toBe(status);
});

test.each([
  ['Success', ResponseStatus.Success],
  ['BadRequest', ResponseStatus.BadRequest],
  [3, ResponseStatus.NotFound],
  ['Unauthorized', ResponseStatus.Unauthorized],
  [5, ResponseStatus.InternalServer],
])('readResponseStatus accepts %j, because readers accept text and numbers (H4)', (value, status) => {
  expect(readResponseStatus(value)).toBe(status);
});

// A TypeScript enum is an object that also has the keys '1' and '2', and every object inherits keys such as 'toString'.
test.each(['success', '1', '', 0, 3, 1.5, true, null, undefined, 'toString', '__proto__', ['Success']])(
  'readPaymentStatus returns undefined for %j',
  (value) => {
    expect(readPaymentStatus(value)).toBeUndefined();
  },
);
