/** The requests of a payer's browser: the headers, and the body with which the script of the page pays. */
import { randomUUID } from 'node:crypto';
import { constants, gunzipSync } from 'node:zlib';
import type { CardData } from '@svc/sdk/card';
import { encryptCard } from './encrypt-card.ts';

/** The headers of a browser. The gateway compresses the page, and checks the origin of a payment. */
const BROWSER_HEADERS = {
  'user-agent':
    'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36',
  'accept-encoding': 'gzip, deflate, br, zstd',
  'accept-language': 'en-ZA,en-GB;q=0.9,en-US;q=0.8,en;q=0.7',
};
export const PAGE_HEADERS = {
  ...BROWSER_HEADERS,
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8',
  'upgrade-insecure-requests': '1',
  'sec-fetch-site': 'cross-site',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
};
export const SCRIPT_HEADERS = {
  ...BROWSER_HEADERS,
  accept: '*/*',
  'content-type': 'application/json',
  'sec-fetch-site': 'same-origin',
  'sec-fetch-mode': 'cors',
  'sec-fetch-dest': 'empty',
};
/** The data for the script of the page are within these first bytes of the compressed page. */
const READ_BYTES = 8_000;

/** The beginning of a compressed page. Browsers decompress the whole page, but do not share the server's processors. */
export function readBeginning(page: Buffer): string {
  return gunzipSync(page.subarray(0, READ_BYTES), { finishFlush: constants.Z_SYNC_FLUSH }).toString('latin1');
}

/** The value of an attribute `data-…` of the page. Undefined if the page has no such attribute. */
export function findPageData(page: string, name: string): string | undefined {
  return new RegExp(`data-${name}="([^"]*)"`).exec(page)?.[1]?.replaceAll('&quot;', '"').replaceAll('&amp;', '&');
}

/** Encrypts the card for this session and payment, as the script of the page does. */
export function buildPayRequest(page: string, sessionId: string, card: CardData): Readonly<Record<string, unknown>> {
  const readAttribute = (name: string): string => {
    const value = findPageData(page, name);
    if (value === undefined) throw new Error(`The page has no data-${name}.`);
    return value;
  };
  // A commit that `--against` names may have another word for the number of the payment.
  const hasOldName = page.includes(' data-try="');
  const paymentNumber = Number(readAttribute(hasOldName ? 'try' : 'payment-number'));
  const binding = { sessionId, paymentNumber, try: paymentNumber, expiresAt: readAttribute('expires-at') };
  const encryptedCard = encryptCard({ card, binding }, readAttribute('encryption-key'));
  const reference = randomUUID();
  return { reference, ...(hasOldName ? { try: paymentNumber } : { paymentNumber }), encryptedCard };
}
