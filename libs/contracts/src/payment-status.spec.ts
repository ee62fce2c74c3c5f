import { PaymentStatus, readPaymentStatus, readResponseStatus, ResponseStatus } from './payment-status.js';

test.each([
  ['Success', PaymentStatus.Success],
  [1, PaymentStatus.Success],
  ['Failed', PaymentStatus.Failed],
  [2, PaymentStatus.Failed],
])('a paymentStatus of %j is read, text or number (H4)', (value, status) => {
  expect(readPaymentStatus(value)).toBe(status);
});

test.each([
  ['Success', ResponseStatus.Success],
  ['BadRequest', ResponseStatus.BadRequest],
  [3, ResponseStatus.NotFound],
  ['Unauthorized', ResponseStatus.Unauthorized],
  [5, ResponseStatus.InternalServer],
])('a status of %j is read, text or number (H4)', (value, status) => {
  expect(readResponseStatus(value)).toBe(status);
});

// An enum is an object with both directions in it: '1' is a name of it, and so are those every object has.
test.each(['success', '1', '', 0, 3, 1.5, true, null, undefined, 'toString', '__proto__', ['Success']])(
  '%j is not a paymentStatus',
  (value) => {
    expect(readPaymentStatus(value)).toBeUndefined();
  },
);
