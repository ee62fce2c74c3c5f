import {
  MalformedPaymentError,
  MAX_AMOUNT_CENTS,
  readErrors,
  readHostedPayment,
  readHostedPaymentNotification,
  readObject,
  readResponseStatus,
  readWhole,
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

const thrownBy = (read: () => unknown): unknown => {
  try {
    return read();
  } catch (error) {
    return error;
  }
};

test('a payment has the fields of the specification, and no others', () => {
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
    const error = thrownBy(() => readHostedPayment({ ...PAYMENT, [field]: value }));
    expect(error).toBeInstanceOf(MalformedPaymentError);
    expect(error).toMatchObject({ name: 'MalformedPaymentError', field, message: `${field} is missing or malformed` });
  }
});

test.each([['userMessage'], ['paymentMethod']])('%s must be text if it is present', (field) => {
  expect(thrownBy(() => readHostedPayment({ ...PAYMENT, [field]: 7 }))).toMatchObject({ field });
});

test.each([undefined, null, 'payment', 7, [PAYMENT]])('%j is neither a payment nor a notification', (value) => {
  expect(thrownBy(() => readHostedPayment(value))).toMatchObject({ field: 'payment' });
  expect(thrownBy(() => readHostedPaymentNotification(value))).toMatchObject({ field: 'notification' });
  expect(thrownBy(() => readObject(value, 'envelope'))).toMatchObject({ field: 'envelope' });
});

test('a notification is a payment with a signature', () => {
  expect(readHostedPaymentNotification({ ...PAYMENT, signature: '0e73' })).toEqual({ ...PAYMENT, signature: '0e73' });
  expect(thrownBy(() => readHostedPaymentNotification(PAYMENT))).toMatchObject({ field: 'signature' });
});

test.each([0, 1, MAX_AMOUNT_CENTS])('%d is a valid amount', (amount) => {
  expect(readHostedPayment({ ...PAYMENT, amount }).amount).toBe(amount);
});

test.each([-1, MAX_AMOUNT_CENTS + 1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '100', 100n])(
  '%p is not a valid amount',
  (amount) => {
    expect(thrownBy(() => readHostedPayment({ ...PAYMENT, amount }))).toMatchObject({ field: 'amount' });
  },
);

test('a whole number is limited to the given maximum', () => {
  expect(readWhole({ month: 12 }, 'month', 12)).toBe(12);
  expect(thrownBy(() => readWhole({ month: 13 }, 'month', 12))).toMatchObject({ field: 'month' });
});

test.each([
  ['Success', 'Success'],
  ['Failed', 'Failed'],
  [1, 'Success'],
  [2, 'Failed'],
])('a paymentStatus of %j is read as %s (H4)', (paymentStatus, expected) => {
  expect(readHostedPayment({ ...PAYMENT, paymentStatus }).paymentStatus).toBe(expected);
});

test.each([0, 3, 1.5, -1, 'success', '1', '', true])('a paymentStatus of %j is malformed', (paymentStatus) => {
  const error = thrownBy(() => readHostedPayment({ ...PAYMENT, paymentStatus }));
  expect(error).toMatchObject({ field: 'paymentStatus' });
});

test.each(['Success', 'BadRequest', 'NotFound', 'Unauthorized', 'InternalServer'])(
  'the status %s is read as text and by its number',
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

test('errors have a message, reference and field; those without a message are omitted', () => {
  const whole = { message: 'Not the amount.', errorReference: '22', field: 'amount' };
  const errors = [whole, { message: 'm', errorReference: 22, field: null, more: 1 }, {}, { message: 1 }, null, 'text'];
  expect(readErrors(errors)).toEqual([whole, { message: 'm' }]);
});

test.each([undefined, null, 'text', { message: 'm' }])('%j contains no errors', (value) => {
  expect(readErrors(value)).toEqual([]);
});
