import type { CreateSessionRequest, PayableState, SessionState } from '@svc/contracts';
import { MAX_SESSION_ATTEMPTS } from './max-session-attempts.js';
import { fingerprintOf, payableOf, type Session, SESSION_LIFETIME_MS, sessionState } from './session.js';

const expiresAt = new Date('2026-03-01T10:30:00.000Z');
const before = new Date(expiresAt.getTime() - 1);

test('a session lives for half an hour and five tries (H2)', () => {
  expect([SESSION_LIFETIME_MS, MAX_SESSION_ATTEMPTS]).toEqual([1_800_000, 5]);
});

test.each<[PayableState, SessionState, SessionState]>([
  ['open', 'open', 'expired'],
  // A session with a payment in progress, or in a final state, does not expire.
  ['reserved', 'processing', 'processing'],
  ['paid', 'completed', 'completed'],
  ['refused', 'refused', 'refused'],
  ['closed', 'cancelled', 'cancelled'],
])('the session of a payable that is %s is %s, and after its expiry %s (H2)', (payableState, intime, late) => {
  expect(sessionState({ payableState, expiresAt }, before)).toBe(intime);
  expect(sessionState({ payableState, expiresAt }, expiresAt)).toBe(late);
});

test.each([
  [null, {}],
  ['12345678901234567890', { code: '12345678901234567890' }],
])('the payable of a session with the code %s has all its fields', (code, codeOfSource) => {
  const identity = { mode: 'test', merchantId: 1001, siteId: 2, amount: 12_345, currencyISOCode: 'ZAR' } as const;
  const source = {
    sessionId: 's',
    apiVersion: 'v1.1',
    merchantOrderId: 'order-17',
    notificationUrl: 'https://shop.example/hook',
  } as const;
  const session = { ...identity, ...source, code, expiresAt, merchantName: 'Shop' } as unknown as Session;
  expect(payableOf(session)).toStrictEqual({
    ...identity,
    payableId: 's',
    expiresAt: expiresAt.toISOString(),
    triesMax: MAX_SESSION_ATTEMPTS,
    source: { ...source, ...codeOfSource, kind: 'session' },
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

  it('is the same for the same fields, in any order and with any unknown fields', () => {
    const reversed = Object.fromEntries(Object.entries({ ...request, extra: 1 }).reverse());
    expect(fingerprintOf(reversed as unknown as CreateSessionRequest)).toBe(fingerprintOf(request));
  });

  it('is the same without custom fields and with an empty list of them', () => {
    const { customFields: _, ...without } = request;
    expect(fingerprintOf(without)).toBe(fingerprintOf({ ...request, customFields: [] }));
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
    // The same characters, split between key and value at another place.
    { customFields: [{ key: 'BookO', value: 'ne' }] },
  ])('differs with %j', (change) => {
    expect(fingerprintOf({ ...request, ...change })).not.toBe(fingerprintOf(request));
  });
});
