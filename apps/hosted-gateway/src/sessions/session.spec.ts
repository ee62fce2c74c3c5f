import type { CreateSessionRequest, PayableState, SessionState } from '@svc/contracts';
import { MAX_SESSION_PAYMENTS } from './max-session-payments.js';
import {
  buildRedirectUrl,
  computeFingerprint,
  describePayable,
  determineSessionState,
  type Session,
  SESSION_EXTENSION_MS,
  SESSION_LIFETIME_MS,
  SESSION_WARNING_MS,
} from './session.js';

const expiresAt = new Date('2026-03-01T10:30:00.000Z');
const before = new Date(expiresAt.getTime() - 1);

test('a session expires after 30 minutes and allows 5 payments (H2)', () => {
  expect([SESSION_LIFETIME_MS, MAX_SESSION_PAYMENTS]).toEqual([1_800_000, 5]);
});

test('a payer can extend a session by 15 minutes, from 5 minutes before it expires', () => {
  expect([SESSION_EXTENSION_MS, SESSION_WARNING_MS]).toEqual([900_000, 300_000]);
});

test('the merchant redirects the payer to the page of the session (H1)', () => {
  expect(buildRedirectUrl({ sessionId: 's-1' }, 'https://pay.example')).toBe('https://pay.example/pay?sessionId=s-1');
});

test.each<{ payableState: PayableState; stateBefore: SessionState; stateAfter: SessionState }>([
  { payableState: 'open', stateBefore: 'open', stateAfter: 'expired' },
  // A session with a payment in progress, or in a final state, does not expire.
  { payableState: 'reserved', stateBefore: 'processing', stateAfter: 'processing' },
  { payableState: 'paid', stateBefore: 'completed', stateAfter: 'completed' },
  { payableState: 'refused', stateBefore: 'refused', stateAfter: 'refused' },
  { payableState: 'closed', stateBefore: 'cancelled', stateAfter: 'cancelled' },
])(
  'a session whose payable is $payableState has the state $stateBefore before expiresAt, and then $stateAfter (H2)',
  ({ payableState, stateBefore, stateAfter }) => {
    expect(determineSessionState({ payableState, expiresAt }, before)).toBe(stateBefore);
    expect(determineSessionState({ payableState, expiresAt }, expiresAt)).toBe(stateAfter);
  },
);

test('the payable of a session has all fields', () => {
  const identity = { mode: 'test', merchantId: 1001, siteId: 2, amount: 12_345, currencyISOCode: 'ZAR' } as const;
  const source = {
    sessionId: 's',
    apiVersion: 'v1.1',
    merchantOrderId: 'order-17',
    notificationUrl: 'https://shop.example/hook',
    code: '12345678901234567890',
  } as const;
  const session = { ...identity, ...source, expiresAt, merchantName: 'Shop' } as unknown as Session;
  expect(describePayable(session)).toStrictEqual({
    ...identity,
    payableId: 's',
    expiresAt: expiresAt.toISOString(),
    maxPayments: MAX_SESSION_PAYMENTS,
    source: { ...source, kind: 'session' },
  });
});

describe('the fingerprint of a request (C7)', () => {
  const request: CreateSessionRequest = {
    requestId: 'r-1',
    merchantOrderId: 'order-17',
    amount: 12_345,
    currencyISOCode: 'ZAR',
    notificationUrl: 'https://shop.example/hook',
    returnUrl: 'https://shop.example/return',
    cancelUrl: 'https://shop.example/cart',
    origin: 'shop.example',
    siteName: 'Karoo Books',
    customFields: [{ key: 'Book', value: 'One' }],
  };

  it('is equal for requests with equal fields, whatever their order, and ignores unknown fields', () => {
    const reversed = Object.fromEntries(Object.entries({ ...request, extra: 1 }).reverse());
    expect(computeFingerprint(reversed as unknown as CreateSessionRequest)).toBe(computeFingerprint(request));
  });

  it('is equal for a request without customFields and a request with an empty list of customFields', () => {
    const { customFields: _, ...requestWithoutCustomFields } = request;
    expect(computeFingerprint(requestWithoutCustomFields)).toBe(computeFingerprint({ ...request, customFields: [] }));
  });

  it.each<Partial<CreateSessionRequest>>([
    { merchantOrderId: 'order-18' },
    { amount: 12_346 },
    { currencyISOCode: 'USD' },
    { notificationUrl: 'https://shop.example/hook2' },
    { returnUrl: 'https://shop.example/return2' },
    { cancelUrl: 'https://shop.example/cart2' },
    { origin: 'shop2.example' },
    { siteName: 'Other' },
    { customFields: [{ key: 'Book', value: 'Two' }] },
    // The concatenation of key and value is still 'BookOne', but key and value differ.
    { customFields: [{ key: 'BookO', value: 'ne' }] },
  ])('changes if a field of the request changes: %j', (change) => {
    expect(computeFingerprint({ ...request, ...change })).not.toBe(computeFingerprint(request));
  });
});
