import {
  MalformedPaymentError,
  MAX_AMOUNT_CENTS,
  readErrors,
  readHostedPayment,
  readHostedPaymentNotification,
  readObject,
  readResponseStatus,
  readWholeNumber,
} from './hosted-payment.js';

const PAYMENT = {
  sessionId: 's-1',
  amount: 12_345,
  currencyISOCode: 'ZAR',
  merchantOrderId: 'order-1001',
  paymentReference: '1VQ5K3P0ABCDEFGHJK',
  paymentStatus: 'Success',
  paymentUTCDate: '2026-11-20T18:03:36.123Z',
  status: 'Success',
};

const catchError = (read: () => unknown): unknown => {
  try {
    return read();
  } catch (error) {
    return error;
  }
};

test('readHostedPayment returns the fields of the specification, and no other fields', () => {
  expect(readHostedPayment({ ...PAYMENT, userMessage: null, errors: [], note: 'unknown' })).toEqual(PAYMENT);
  const failed = {
    ...PAYMENT,
    paymentStatus: 'Failed',
    userMessage: 'Declined.',
    paymentMethod: '**** 0002',
    errors: [{ message: 'Declined.' }],
  };
  expect(readHostedPayment(failed)).toEqual(failed);
});

test.each(Object.keys(PAYMENT))('a payment without %s is malformed, and the error names the field', (field) => {
  for (const value of [undefined, null, {}, true]) {
    const error = catchError(() => readHostedPayment({ ...PAYMENT, [field]: value }));
    expect(error).toBeInstanceOf(MalformedPaymentError);
    expect(error).toMatchObject({ name: 'MalformedPaymentError', field, message: `${field} is missing or malformed` });
  }
});

test.each([['userMessage'], ['paymentMethod']])('%s must be text if it is present', (field) => {
  expect(catchError(() => readHostedPayment({ ...PAYMENT, [field]: 7 }))).toMatchObject({ field });
});

test.each([undefined, null, 'payment', 7, [PAYMENT]])('%j is neither a payment nor a notification', (value) => {
  expect(catchError(() => readHostedPayment(value))).toMatchObject({ field: 'payment' });
  expect(catchError(() => readHostedPaymentNotification(value))).toMatchObject({ field: 'notification' });
  expect(catchError(() => readObject(value, 'envelope'))).toMatchObject({ field: 'envelope' });
});

test('readHostedPaymentNotification returns a payment with its signature, and requires the signature', () => {
  expect(readHostedPaymentNotification({ ...PAYMENT, signature: '0e73' })).toEqual({ ...PAYMENT, signature: '0e73' });
  expect(catchError(() => readHostedPaymentNotification(PAYMENT))).toMatchObject({ field: 'signature' });
});

test.each([0, 1, MAX_AMOUNT_CENTS])('%d is a valid amount', (amount) => {
  expect(readHostedPayment({ ...PAYMENT, amount }).amount).toBe(amount);
});

test.each([-1, MAX_AMOUNT_CENTS + 1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '100', 100n])(
  '%p is not a valid amount',
  (amount) => {
    expect(catchError(() => readHostedPayment({ ...PAYMENT, amount }))).toMatchObject({ field: 'amount' });
  },
);

test('readWholeNumber refuses a number above the given maximum', () => {
  expect(readWholeNumber({ month: 12 }, 'month', 12)).toBe(12);
  expect(catchError(() => readWholeNumber({ month: 13 }, 'month', 12))).toMatchObject({ field: 'month' });
});

test.each([
  ['Success', 'Success'],
  ['Failed', 'Failed'],
  [1, 'Success'],
  [2, 'Failed'],
])('the paymentStatus %j is converted to %s (H4)', (paymentStatus, expected) => {
  expect(readHostedPayment({ ...PAYMENT, paymentStatus }).paymentStatus).toBe(expected);
});

test.each([0, 3, 1.5, -1, 'success', '1', '', true])('a paymentStatus of %j is malformed', (paymentStatus) => {
  const error = catchError(() => readHostedPayment({ ...PAYMENT, paymentStatus }));
  expect(error).toMatchObject({ field: 'paymentStatus' });
});

test.each(['Success', 'BadRequest', 'NotFound', 'Unauthorized', 'InternalServer'])(
  'the status %s is accepted as text and as its number',
  (status) => {
    const number = ['Success', 'BadRequest', 'NotFound', 'Unauthorized', 'InternalServer'].indexOf(status) + 1;
    expect(readResponseStatus(status)).toBe(status);
    expect(readResponseStatus(number)).toBe(status);
    expect(readHostedPayment({ ...PAYMENT, status: number }).status).toBe(status);
  },
);

test.each([0, 6, 'success', undefined, null])('%j is not a response status', (value) => {
  expect(readResponseStatus(value)).toBeUndefined();
});

test('readErrors returns the message, reference and field of each error, and omits errors without a message', () => {
  const complete = { message: 'Not the amount.', errorReference: '22', field: 'amount' };
  const errors = [
    complete,
    { message: 'm', errorReference: 22, field: null, more: 1 },
    {},
    { message: 1 },
    null,
    'text',
  ];
  expect(readErrors(errors)).toEqual([complete, { message: 'm' }]);
});

test.each([undefined, null, 'text', { message: 'm' }])('readErrors returns an empty list for %j', (value) => {
  expect(readErrors(value)).toEqual([]);
});
