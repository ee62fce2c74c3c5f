import type { HostedPaymentSnapshot } from '../../events/payments.js';
import { MAX_AMOUNT_CENTS } from '../../validation.js';
import { hostedPaymentOf, isFinal, notificationFields } from './hosted-payment.js';

const SESSION = '0b6c3f4e-6f2a-4c3b-9d1e-7a8b9c0d1e2f';

function aPayment(change: Partial<HostedPaymentSnapshot> = {}): HostedPaymentSnapshot {
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
    },
    payable: { payableId: SESSION, state: 'paid', version: 3, tries: 1 },
    ...change,
  };
}

const failed = (errors: HostedPaymentSnapshot['errors']): HostedPaymentSnapshot =>
  aPayment({ state: 'failed', errors });

describe('the hosted view of a final payment (H3, E2)', () => {
  it('has no message and no errors after a success', () => {
    expect(hostedPaymentOf(aPayment())).toEqual({
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

  it('has the message of the first error after a failure; the status of the call is still Success', () => {
    const payment = hostedPaymentOf(
      failed([
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
    ['the catalogue, when the error has no words', [{ errorReference: '12', message: ' ' }], 'The card has expired.'],
    [
      'a general message, when the reference is unknown',
      [{ errorReference: '99', message: '' }],
      'Something went wrong on our side.',
    ],
    ['a general message, when there is no error', [], 'Something went wrong on our side.'],
  ])('has the message of %s', (_, errors, message) => {
    expect(hostedPaymentOf(failed(errors)).userMessage).toBe(message);
  });

  it('has a message of limited length', () => {
    const message = `${'x'.repeat(499)}💳${'x'.repeat(5_000)}`;
    const { userMessage } = hostedPaymentOf(failed([{ errorReference: '10', message }]));
    expect(userMessage).toHaveLength(500);
    expect(userMessage!.isWellFormed()).toBe(true);
  });

  it('has dates with milliseconds and Z (C2), and unchanged amounts (C1)', () => {
    const payment = hostedPaymentOf(
      aPayment({ paymentUTCDate: '2026-03-01T11:59:58+02:00', amount: MAX_AMOUNT_CENTS }),
    );
    expect(payment.paymentUTCDate).toBe('2026-03-01T09:59:58.000Z');
    expect(JSON.stringify(payment)).toContain('"amount":100000000000,');
  });

  it.each(['processing', 'verificationRequired'] as const)('does not exist while the payment is %s', (state) => {
    expect(isFinal(aPayment({ state }))).toBe(false);
    expect(() => hostedPaymentOf(aPayment({ state }))).toThrow('not final');
  });
});

describe('the notification of a payment', () => {
  it('equals the hosted view of the payment (H3) without the payment method', () => {
    const { paymentMethod: _, ...fields } = hostedPaymentOf(aPayment());
    expect(notificationFields(aPayment())).toEqual(fields);
    expect(notificationFields(failed([]))).toMatchObject({ paymentStatus: 'Failed', status: 'Success' });
  });
});
