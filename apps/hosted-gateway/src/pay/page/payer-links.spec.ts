import type { HostedPaymentSnapshot } from '@svc/contracts';
import type { Session } from '../../sessions/session.js';
import { linkToMerchant } from './payer-links.js';

const session = { sessionId: '0b6c3f4e-6f2a-4c3b-9d1e-7a8b9c0d1e2f', merchantOrderId: 'order 17&é' } as Session;
const payment = (state: HostedPaymentSnapshot['state']): HostedPaymentSnapshot =>
  ({ state, paymentReference: '1H2J3K4M5N6P7Q8R9S' }) as HostedPaymentSnapshot;

const queryOf = (address: string, latest?: HostedPaymentSnapshot): Record<string, string> =>
  Object.fromEntries(new URL(linkToMerchant(address, session, latest)).searchParams);
const ids = { sessionId: session.sessionId, merchantOrderId: 'order 17&é' };

test('a link contains session and order, and keeps the merchant’s own parameters and fragment (H6)', () => {
  expect(queryOf('https://shop.example/cart?lang=en&x=1')).toEqual({ lang: 'en', x: '1', ...ids });
  expect(linkToMerchant('https://shop.example/cart#top', session, undefined)).toMatch(
    /^https:\/\/shop\.example\/cart\?.*#top$/,
  );
});

test.each([
  ['success', 'Success'],
  ['failed', 'Failed'],
] as const)(
  'after a payment in state %s a link also contains its reference and the status %s (H6)',
  (state, paymentStatus) => {
    expect(queryOf('https://shop.example/return', payment(state))).toEqual({
      ...ids,
      paymentReference: '1H2J3K4M5N6P7Q8R9S',
      paymentStatus,
    });
  },
);

test.each(['processing', 'verificationRequired'] as const)(
  'a link contains nothing about a payment that is %s',
  (state) => {
    expect(queryOf('https://shop.example/return', payment(state))).toEqual(ids);
  },
);

test('a link replaces a merchant’s parameter that has the same name', () => {
  const link = linkToMerchant(
    'https://shop.example/?paymentStatus=Success&paymentStatus=x',
    session,
    payment('failed'),
  );
  expect(new URL(link).searchParams.getAll('paymentStatus')).toEqual(['Failed']);
});
