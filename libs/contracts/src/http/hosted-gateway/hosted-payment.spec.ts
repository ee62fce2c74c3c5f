import type { HostedPaymentSnapshot } from '../../events/payments.js';
import { MAX_AMOUNT_CENTS } from '../../validation.js';
import { buildHostedPayment, isFinal, notificationFields } from './hosted-payment.js';

const SESSION = '0b6c3f4e-6f2a-4c3b-9d1e-7a8b9c0d1e2f';

function createPayment(change: Partial<HostedPaymentSnapshot> = {}): HostedPaymentSnapshot {
  return {
    reference: '7a8b9c0d-6f2a-4c3b-9d1e-0b6c3f4e1e2f',
    paymentReference: '1H2J3K4M5N6P7Q8R9S',
    mode: 'test',
    merchantId: 7,
    siteId: 71,
    state: 'success',
    currencyISOCode: 'ZAR',
    invoicedAmount: 12_345,
    amount: 12_345,
    tipAmount: 0,
    processedAmount: 12_345,
    paymentUTCDate: '2026-03-01T09:59:58.123Z',
    modifiedUTCDate: '2026-03-01T09:59:59.456Z',
    paymentMethodType: 'Card',
    paymentMethodLabel: '**** 4242',
    errors: [],
    source: {
      kind: 'session',
      sessionId: SESSION,
      apiVersion: 'v3.1',
      merchantOrderId: 'order|42 é',
      notificationUrl: 'https://shop.example/hooks',
      code: '01234567890123456789',
    },
    payable: { payableId: SESSION, state: 'paid', version: 3, paymentCount: 1 },
    merchantName: 'Karoo Books',
    siteReference: 'WEB',
    ...change,
  };
}

const createFailedPayment = (errors: HostedPaymentSnapshot['errors']): HostedPaymentSnapshot =>
  createPayment({ state: 'failed', errors });

describe('the hosted view of a payment (H3, E2)', () => {
  it('contains no message and no errors if the payment succeeded', () => {
    expect(buildHostedPayment(createPayment())).toEqual({
      sessionId: SESSION,
      amount: 12_345,
      currencyISOCode: 'ZAR',
      merchantOrderId: 'order|42 é',
      paymentReference: '1H2J3K4M5N6P7Q8R9S',
      paymentStatus: 'Success',
      paymentUTCDate: '2026-03-01T09:59:58.123Z',
      status: 'Success',
      paymentMethod: '**** 4242',
    });
  });

  it('contains the message of the first error if the payment failed; the status of the call is still Success', () => {
    const payment = buildHostedPayment(
      createFailedPayment([
        { errorReference: '11', message: 'The card has insufficient funds.' },
        { errorReference: '10', message: 'The card was declined by the bank.' },
      ]),
    );
    expect(payment).toMatchObject({
      paymentStatus: 'Failed',
      status: 'Success',
      userMessage: 'The card has insufficient funds.',
    });
    expect(payment).not.toHaveProperty('errors');
  });

  it.each([
    [
      'of the catalogue, if the error has an empty message',
      [{ errorReference: '12', message: ' ' }],
      'The card has expired.',
    ],
    [
      'of an internal error, if the errorReference is unknown',
      [{ errorReference: '99', message: '' }],
      'Something went wrong on our side.',
    ],
    ['of an internal error, if the payment has no error', [], 'Something went wrong on our side.'],
  ])('contains the message %s', (_, errors, message) => {
    expect(buildHostedPayment(createFailedPayment(errors)).userMessage).toBe(message);
  });

  it('contains at most 500 characters of a message, without a broken surrogate pair', () => {
    const message = `${'x'.repeat(499)}💳${'x'.repeat(5_000)}`;
    const { userMessage } = buildHostedPayment(createFailedPayment([{ errorReference: '10', message }]));
    expect(userMessage).toHaveLength(500);
    expect(userMessage!.isWellFormed()).toBe(true);
  });

  it('contains dates with milliseconds and Z (C2), and unchanged amounts (C1)', () => {
    const payment = buildHostedPayment(
      createPayment({ paymentUTCDate: '2026-03-01T11:59:58+02:00', amount: MAX_AMOUNT_CENTS }),
    );
    expect(payment.paymentUTCDate).toBe('2026-03-01T09:59:58.000Z');
    expect(JSON.stringify(payment)).toContain('"amount":100000000000,');
  });

  it.each(['processing', 'verificationRequired'] as const)('does not exist while the payment is %s', (state) => {
    expect(isFinal(createPayment({ state }))).toBe(false);
    expect(() => buildHostedPayment(createPayment({ state }))).toThrow('not final');
  });
});

describe('the notification of a payment', () => {
  it('equals the hosted view of the payment (H3) without the payment method', () => {
    const { paymentMethod: _, ...fields } = buildHostedPayment(createPayment());
    expect(notificationFields(createPayment())).toEqual(fields);
    expect(notificationFields(createFailedPayment([]))).toMatchObject({ paymentStatus: 'Failed', status: 'Success' });
  });
});
