import type { PaymentSnapshot } from '@svc/contracts';
import { aPayment } from '../../test/payment.js';
import { endpointOf, notificationFields, replayRefusal } from './notification.js';

const SESSION = '0b6c3f4e-6f2a-4c3b-9d1e-7a8b9c0d1e2f';
const payment = (change: Partial<PaymentSnapshot> = {}): PaymentSnapshot => ({
  ...aPayment('1H2J3K4M5N6P7Q8R9S', 'https://shop.example/hooks', {
    state: 'success',
    sessionId: SESSION,
    apiVersion: 'v3.1',
    mode: 'test',
  }),
  ...change,
});

describe('what a merchant is told', () => {
  it('of a success: what it can read (H3) without the payment method, no message, no errors', () => {
    expect(notificationFields(payment())).toEqual({
      sessionId: SESSION,
      amount: 12_345,
      currencyISOCode: 'ZAR',
      merchantOrderId: 'order|42 é',
      paymentReference: '1H2J3K4M5N6P7Q8R9S',
      paymentStatus: 'Success',
      paymentUTCDate: '2026-03-01T09:59:58.123Z',
      status: 'Success',
    });
  });

  it('of a failure: the API status is still Success, and the message is that of the first error', () => {
    const errors = [
      { errorReference: '11', message: 'The card has insufficient funds.' },
      { errorReference: '10', message: 'The card was declined by the bank.' },
    ];
    const fields = notificationFields(payment({ state: 'failed', errors }));
    expect(fields).toMatchObject({
      paymentStatus: 'Failed',
      status: 'Success',
      userMessage: 'The card has insufficient funds.',
    });
    expect(fields).not.toHaveProperty('errors');
  });
});

describe('the endpoint of an address', () => {
  it.each([
    ['https://Shop.Example/a?b', 'shop.example:443'],
    ['https://shop.example:8443/', 'shop.example:8443'],
    ['http://127.1:9000/', '127.0.0.1:9000'],
    ['http://localhost/', 'localhost:80'],
    ['https://[2606:4700::1]/', '[2606:4700::1]:443'],
    ['nonsense', 'invalid'],
  ])('of %s is %s', (url, endpoint) => {
    expect(endpointOf(url)).toBe(endpoint);
  });
});

describe('a replay', () => {
  const candidate = { paymentStatus: 'Success', leased: false, sessionSucceeded: true } as const;

  it.each(['pending', 'delivered', 'exhausted', 'gone'] as const)('of a success that is %s is possible', (state) => {
    expect(replayRefusal({ ...candidate, state })).toBeUndefined();
  });

  it.each(['pending', 'delivered', 'exhausted', 'gone'] as const)(
    'of a failure that is %s is possible while nobody paid',
    (state) => {
      expect(replayRefusal({ ...candidate, state, paymentStatus: 'Failed', sessionSucceeded: false })).toBeUndefined();
      expect(replayRefusal({ ...candidate, state, paymentStatus: 'Failed', sessionSucceeded: true })).toContain(
        'was paid',
      );
    },
  );

  it('is refused while it is being sent, and when it was superseded', () => {
    expect(replayRefusal({ ...candidate, state: 'pending', leased: true })).toContain('being sent');
    expect(replayRefusal({ ...candidate, state: 'superseded', paymentStatus: 'Failed' })).toContain('was paid');
  });
});
