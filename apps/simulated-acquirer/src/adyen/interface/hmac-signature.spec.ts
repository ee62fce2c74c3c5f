import { signNotification } from './hmac-signature.js';

// The key, the notification and the signature are those of `hmacValidator.spec.ts` in Adyen's library for Node.js
// (@adyen/api-library, MIT licence).
const KEY = 'DFB1EB5485895CFA84146406857104ABB4CBCABDC8AAF103A624C8F6A3EAAB00';
const NOTIFICATION = {
  pspReference: 'pspReference',
  originalReference: 'originalReference',
  merchantAccountCode: 'merchantAccount',
  merchantReference: 'reference',
  amount: { currency: 'EUR', value: 1000 },
  eventCode: 'CAPTURE',
  eventDate: '1970-01-01T00:00:00.000Z',
  paymentMethod: 'VISA',
  reason: 'reason',
  success: 'true',
} as const;

test('the signature is the one of Adyen’s library', () => {
  expect(signNotification(NOTIFICATION, KEY)).toBe('xhpHvYq2u2Np0rstbZ6QjLGu7JWhvf7Iwaa6EviJSX0=');
});

test.each([
  { pspReference: 'x' },
  { originalReference: 'x' },
  { merchantAccountCode: 'x' },
  { merchantReference: 'x' },
  { amount: { currency: 'EUR', value: 1001 } },
  { amount: { currency: 'ZAR', value: 1000 } },
  { eventCode: 'REFUND' },
  { success: 'false' as const },
])('%j changes the signature', (change) => {
  expect(signNotification({ ...NOTIFICATION, ...change }, KEY)).not.toBe(signNotification(NOTIFICATION, KEY));
});

test('a missing original reference is an empty text', () => {
  const { originalReference: _, ...withoutOriginal } = NOTIFICATION;
  expect(signNotification(withoutOriginal, KEY)).toBe(
    signNotification({ ...NOTIFICATION, originalReference: '' }, KEY),
  );
});
