import type { HostedPaymentSnapshot } from '@svc/contracts';
import type { Session } from '../../sessions/session.js';
import { buildMerchantLink } from './payer-links.js';

const session = { sessionId: '0b6c3f4e-6f2a-4c3b-9d1e-7a8b9c0d1e2f', merchantOrderId: 'order 17&é' } as Session;
const buildPayment = (state: HostedPaymentSnapshot['state']): HostedPaymentSnapshot =>
  ({ state, paymentReference: '1H2J3K4M5N6P7Q8R9S' }) as HostedPaymentSnapshot;

const linkQuery = (address: string, latest?: HostedPaymentSnapshot): Record<string, string> =>
  Object.fromEntries(new URL(buildMerchantLink(address, session, latest)).searchParams);
const ids = { sessionId: session.sessionId, merchantOrderId: 'order 17&é' };

test('a link contains sessionId and merchantOrderId, and the parameters and fragment of the merchant’s URL (H6)', () => {
  expect(linkQuery('https://shop.example/cart?lang=en&x=1')).toEqual({ lang: 'en', x: '1', ...ids });
  expect(buildMerchantLink('https://shop.example/cart#top', session, undefined)).toMatch(
    /^https:\/\/shop\.example\/cart\?.*#top$/,
  );
});

test.each([
  ['success', 'Success'],
  ['failed', 'Failed'],
] as const)(
  'after a payment in state %s a link also contains paymentReference, and the paymentStatus %s (H6)',
  (state, paymentStatus) => {
    expect(linkQuery('https://shop.example/return', buildPayment(state))).toEqual({
      ...ids,
      paymentReference: '1H2J3K4M5N6P7Q8R9S',
      paymentStatus,
    });
  },
);

test.each(['processing', 'verificationRequired'] as const)(
  'a link contains neither reference nor status of a payment in state %s',
  (state) => {
    expect(linkQuery('https://shop.example/return', buildPayment(state))).toEqual(ids);
  },
);

test('a link replaces a parameter of the merchant’s URL that has the same name', () => {
  const link = buildMerchantLink(
    'https://shop.example/?paymentStatus=Success&paymentStatus=x',
    session,
    buildPayment('failed'),
  );
  expect(new URL(link).searchParams.getAll('paymentStatus')).toEqual(['Failed']);
});
