import type { Acquirer, CardCharge } from '../../../src/acquirers/acquirer.js';
import { BROWSER, CARD, TERMS, VERIFIED } from '../charge-terms.js';

const { cvv: _cvv, ...CARD_WITHOUT_CVV } = CARD;
const STORED_CARD = { vaultToken: 'M5N7TQ4TG5PFWR50:0123456789abcdef', vaultAccount: 'ExampleVault' };
const PAYER = { address: '192.0.2.1', browser: BROWSER };
/** A payment of the hosted page. */
const CHARGE: CardCharge = {
  ...TERMS,
  card: CARD,
  bankReturnUrl: 'https://pay.example/returned/1',
  pageOrigin: 'https://pay.example',
  payer: PAYER,
};
const MODIFICATION = {
  ...TERMS,
  chargeKey: TERMS.idempotencyKey,
  keyNumber: 1,
  chargeReference: 'JLCMPCQ8HXSKGK82',
  acquirerReference: undefined,
};
const signal = (): AbortSignal => AbortSignal.timeout(10_000);
const charge =
  (change: Partial<CardCharge>) =>
  (adyen: Acquirer): Promise<unknown> =>
    adyen.charge({ ...CHARGE, ...change }, signal());

/** Each kind of request that the adapter sends, in all its variants. */
export const ADAPTER_REQUESTS: Readonly<Record<string, (adyen: Acquirer) => Promise<unknown>>> = {
  'payment: card, browser': charge({}),
  'payment: card, browser, e-mail': charge({ payer: { ...PAYER, email: 'payer@example.com' } }),
  'payment: card, IPv6 address': charge({ payer: { ...PAYER, address: '2001:db8::1' } }),
  'payment: card, the shortest browser data': charge({
    payer: {
      browser: {
        ...{ acceptHeader: ' ', userAgent: ' ', language: 'e', colorDepth: 1 },
        ...{ screenWidth: 0, screenHeight: 0, timeZoneOffsetMinutes: 0 },
      },
    },
  }),
  'payment: card, the longest browser data': charge({
    payer: {
      ...PAYER,
      browser: {
        ...{ acceptHeader: 'a'.repeat(2_048), userAgent: 'a'.repeat(2_048), language: 'a'.repeat(35), colorDepth: 48 },
        ...{ screenWidth: 999_999, screenHeight: 999_999, timeZoneOffsetMinutes: 840, javaScriptEnabled: true },
      },
    },
  }),
  'payment: card, a part of the browser data': charge({ payer: { browser: { userAgent: 'Mozilla/5.0' } } }),
  'payment: card, empty fields': charge({
    card: { ...CARD, holderName: '' },
    pageOrigin: '',
    payer: { address: '', email: '', browser: { ...BROWSER, acceptHeader: '', userAgent: '', language: '' } },
  }),
  'payment: card, forced verification': charge({ forceVerification: true }),
  'payment: card without security code': charge({ card: CARD_WITHOUT_CVV }),
  'payment: card, no payer, no page': charge({ payer: undefined, pageOrigin: undefined }),
  'payment: card, the longest origin': charge({ pageOrigin: `https://${'a'.repeat(72)}` }),
  'payment: card, the smallest amount': charge({ amount: 1 }),
  'payment: card, the largest amount': charge({ amount: 999_999_999_999 }),
  'payment: token, browser': charge({ card: STORED_CARD }),
  'payment: token, no payer': charge({ card: STORED_CARD, payer: undefined, pageOrigin: undefined }),
  'details after the redirect': (adyen) => adyen.chargeVerified(VERIFIED, signal()),
  capture: (adyen) => adyen.capture(MODIFICATION, signal()),
  'cancel by reference': (adyen) => adyen.reverse(MODIFICATION),
  refund: (adyen) => adyen.refund(MODIFICATION, signal()),
  'refund of a part': (adyen) => adyen.refund({ ...MODIFICATION, amount: 1 }, signal()),
  'storing a card': (adyen) => adyen.storeCard(CARD, 'test'),
  'storing a card without security code': (adyen) => adyen.storeCard(CARD_WITHOUT_CVV, 'test'),
  'deletion of a token': (adyen) => adyen.deleteCard(STORED_CARD, 'test'),
};
