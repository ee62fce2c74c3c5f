import {
  LIBRARY_ITEM,
  LIBRARY_KEY,
  notificationOf,
  PUBLISHED_ITEM,
  PUBLISHED_KEY,
  sign,
} from '../../../../test/adyen/signed-notification.js';
import { authenticateItems, hasWebhookCredentials } from './authenticate-notification.js';
import { parseNotification } from './parse-notification.js';

const authenticate = (items: readonly unknown[], hmacKeys: readonly string[]): ReturnType<typeof authenticateItems> =>
  authenticateItems(parseNotification(JSON.parse(notificationOf(items)))!, { hmacKeys });
const isAuthentic = (item: unknown, ...hmacKeys: string[]): boolean => authenticate([item], hmacKeys).isAuthentic;

describe('a signature', () => {
  test.each([
    ['of the documentation', PUBLISHED_ITEM, PUBLISHED_KEY],
    ["of the library's tests", LIBRARY_ITEM, LIBRARY_KEY],
  ])("of Adyen's example %s is authentic with its key alone, in upper or lower case", (_, item, key) => {
    const otherKey = key === PUBLISHED_KEY ? LIBRARY_KEY : PUBLISHED_KEY;
    expect(isAuthentic(item, key)).toBe(true);
    expect(isAuthentic(item, key.toLowerCase())).toBe(true);
    expect(isAuthentic(item, otherKey)).toBe(false);
    expect(isAuthentic(item)).toBe(false);
  });

  test('is authentic with the old and with the new key of a rotation', () => {
    for (const keys of [
      [PUBLISHED_KEY, LIBRARY_KEY],
      [LIBRARY_KEY, PUBLISHED_KEY],
    ])
      expect(authenticate([PUBLISHED_ITEM, LIBRARY_ITEM], keys)).toEqual({
        isAuthentic: true,
        authenticItems: [true, true],
      });
  });

  test.each<[string, object]>([
    ['pspReference', { pspReference: 'other' }],
    ['originalReference', { originalReference: 'other' }],
    ['merchantAccountCode', { merchantAccountCode: 'other' }],
    ['merchantReference', { merchantReference: 'other' }],
    ['amount', { amount: { value: 1_001, currency: 'EUR' } }],
    ['currency', { amount: { value: 1_000, currency: 'USD' } }],
    ['eventCode', { eventCode: 'REFUND' }],
    ['success', { success: 'false' }],
    ['type of success', { success: true }],
    ['type of the amount', { amount: { value: '1000', currency: 'EUR' } }],
    ['type of the reference', { pspReference: ['pspReference'] }],
  ])('does not fit another %s', (_, change) =>
    expect(isAuthentic({ ...LIBRARY_ITEM, ...change }, LIBRARY_KEY)).toBe(false),
  );

  test.each([
    undefined,
    null,
    '',
    ' ',
    'notValidSign',
    7,
    ['x'],
    LIBRARY_ITEM.additionalData.hmacSignature.slice(0, -4),
  ])('that is %p is refused', (hmacSignature) =>
    expect(isAuthentic({ ...LIBRARY_ITEM, additionalData: { hmacSignature } }, LIBRARY_KEY)).toBe(false),
  );

  test('is required for each item: one bad item refuses the whole request', () => {
    const forged = { ...PUBLISHED_ITEM, pspReference: 'forged' };
    expect(authenticate([PUBLISHED_ITEM, forged, PUBLISHED_ITEM], [PUBLISHED_KEY])).toEqual({
      isAuthentic: false,
      authenticItems: [true, false, true],
    });
    expect(isAuthentic({ ...PUBLISHED_ITEM, additionalData: undefined }, PUBLISHED_KEY)).toBe(false);
    expect(authenticate([null], [PUBLISHED_KEY]).isAuthentic).toBe(false);
    expect(authenticateItems({ isLive: false, items: [] }, { hmacKeys: [PUBLISHED_KEY] }).isAuthentic).toBe(false);
  });

  test('does not fit fields whose boundary was moved: only the reference of a merchant may contain colons', () => {
    const withColon = { ...LIBRARY_ITEM, merchantReference: 'a:b' };
    expect(isAuthentic(sign(withColon, LIBRARY_KEY), LIBRARY_KEY)).toBe(true);
    const { additionalData } = sign(withColon, LIBRARY_KEY);
    const moved = { ...withColon, merchantAccountCode: 'merchantAccount:a', merchantReference: 'b', additionalData };
    expect(isAuthentic(moved, LIBRARY_KEY)).toBe(false);
    for (const field of ['pspReference', 'originalReference', 'eventCode'])
      expect(isAuthentic(sign({ ...LIBRARY_ITEM, [field]: 'a:b' }, LIBRARY_KEY), LIBRARY_KEY)).toBe(false);
  });
});

describe('basic authentication', () => {
  const credentials = { webhookUser: 'adyen', webhookPassword: 'pass:wörd' };
  const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;

  test('admits the user with the password', () => {
    expect(hasWebhookCredentials(basic('adyen:pass:wörd'), credentials)).toBe(true);
    expect(hasWebhookCredentials(basic('adyen:pass:wörd').replace('Basic', 'basic'), credentials)).toBe(true);
  });

  test.each([
    undefined,
    '',
    'Basic ',
    'Basic !',
    basic(''),
    basic(':'),
    basic('adyen:'),
    basic('adyen:pass:word'),
    basic('other:pass:wörd'),
    basic('adyen:pass:wörd '),
    basic('adyen:pass:wörd').replace('Basic', 'Bearer'),
    `${basic('adyen:pass:wörd')} x`,
    `x ${basic('adyen:pass:wörd')}`,
  ])('refuses %p', (header) => expect(hasWebhookCredentials(header, credentials)).toBe(false));
});
