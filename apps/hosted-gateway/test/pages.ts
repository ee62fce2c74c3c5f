/** Models of the payment page in every state, and helpers to render and read the page. */
import { getLanguage } from '../src/languages/languages.js';
import type { PageLook } from '../src/page-views/merchant-look/page-look.js';
import type { PageFrame } from '../src/page-views/page-frame.js';
import type {
  ClosedPage,
  OrderDetails,
  PageManifest,
  PaidPage,
  PayablePage,
  PayPageModel,
  ReversedCharge,
  VerificationPage,
} from '../src/page-views/pay-page-model.js';
import { RECEIPT_RESULTS } from '../src/page-views/receipt-mail/receipt-mail-form.js';
import { buildPagePolicy, renderPayPage, selectShell } from '../src/page-views/render-pay-page.js';

const SCRIPT = { content: 'pay()', integrity: 'sha384-c2NyaXB0' };
const MANIFEST: PageManifest = {
  scripts: { en: SCRIPT, af: SCRIPT, zu: { content: 'khokha()', integrity: 'sha384-enU=' }, xh: SCRIPT, st: SCRIPT },
  style: { content: 'h1{color:red}', integrity: 'sha384-c3R5bGU=' },
};
export const order: OrderDetails = {
  sessionId: '0198f2c4-7a3b-7c11-9d2e-5b6a7c8d9e0f',
  callsPath: '/pay/0198f2c4-7a3b-7c11-9d2e-5b6a7c8d9e0f',
  sessionVersion: 3,
  merchantName: 'Karoo Coffee',
  siteName: 'Online store',
  merchantOrderId: 'order-1001',
  amountCents: 12345,
  currencyISOCode: 'ZAR',
  customFields: [{ key: 'Beans', value: 'Ethiopia Guji' }],
  backToStoreUrl: 'https://shop.example/cart?sessionId=1&merchantOrderId=order-1001',
};
export const openPage: PayablePage = {
  ...order,
  state: 'open',
  paymentNumber: 1,
  paymentsLeft: 5,
  expiresAt: '2026-11-20T18:33:36.123Z',
  timeZone: 'Africa/Johannesburg',
  canExtend: true,
  encryptionKey: { kty: 'EC', crv: 'P-256', x: 'eHg', y: 'eXk', kid: 'card-1' },
  renderedAt: '2026-11-20T18:03:36.123Z',
};
export const declinedPage: PayablePage = {
  ...openPage,
  state: 'declined',
  paymentNumber: 2,
  paymentsLeft: 4,
  decline: { errorReference: '11', message: 'Insufficient funds' },
};
export const paidPage: PaidPage = {
  ...order,
  state: 'succeeded',
  paymentReference: '1VQ5K3P0ABCDEFGHJK',
  charge: { cardLabel: '**** 4242', at: '2026-11-20T18:03:36.123Z', timeZone: 'Africa/Johannesburg' },
  returnUrl: 'https://shop.example/thanks?paymentStatus=Success',
};
/** A look with every setting. The colours are those of looks/accent-colour.spec.ts. */
export const look: PageLook = {
  displayName: 'Karoo Coffee',
  logo: { path: '/looks/0123456789abcdef0123456789abcdef.png', width: 168, height: 56 },
  style: { content: ':root{--button:#ffcc00}', integrity: 'sha384-bG9vaw==' },
  accent: { background: '#ffcc00', text: '#000000' },
  supportEmail: 'help@karoo.example',
  supportPhone: '+27 21 555 0100',
  supportUrl: 'https://karoo.example/help',
  termsUrl: 'https://karoo.example/terms',
};
/** A receipt that the payer can send by e-mail, after each result. */
export const receiptMailPages: PaidPage[] = [undefined, ...RECEIPT_RESULTS].map((result) => ({
  ...paidPage,
  look,
  receiptMail: { action: `${order.callsPath}/receipts`, result },
}));
export const verificationPage: VerificationPage = {
  // With the URL of the store, which the page must not show in this state.
  ...order,
  charge: { cardLabel: '**** 3220', at: '2026-11-20T18:03:36.123Z', timeZone: 'Africa/Johannesburg' },
  state: 'verification',
  verificationUrl: 'https://bank.example/challenges/1?a=b&c=d',
  until: '2026-11-20T18:18:36.123Z',
  untilTimeZone: 'Africa/Johannesburg',
  anotherCardUrl: '?sessionId=1&card=another',
};
export const reversedCharges: ReversedCharge[] = [
  {
    ...{ amountCents: 9_900, currencyISOCode: 'ZAR', cardLabel: '**** 0119' },
    ...{ at: '2026-11-20T18:04:36.123Z', timeZone: 'Africa/Johannesburg' },
  },
];
export const closedStates: Exclude<ClosedPage['state'], 'paused'>[] = ['refused', 'expired', 'cancelled'];
export const allPages: PayPageModel[] = [
  openPage,
  declinedPage,
  { ...order, state: 'processing', isLate: false },
  { ...order, state: 'processing', isLate: true },
  verificationPage,
  paidPage,
  { ...paidPage, state: 'already-paid' },
  ...closedStates.map((state) => ({ ...order, state })),
  { ...order, invoiceOrigin: 'till', state: 'paused' },
  { state: 'till', merchantName: 'Karoo Coffee' },
  { state: 'not-found' },
  { state: 'not-found', isScanned: true },
  { state: 'unavailable' },
];

const ENGLISH: PageFrame = { language: getLanguage('en'), isLanguageChosen: false, query: 'sessionId=1' };

export const renderHtml = (model: PayPageModel, overrides: Partial<PageFrame> = {}): string => {
  const frame = { ...ENGLISH, ...overrides };
  const pieces = renderPayPage(model, selectShell(model, frame, MANIFEST), frame);
  return pieces.map((piece) => (typeof piece === 'string' ? piece : piece.content)).join('');
};
export const renderSecurityPolicy = (model: PayPageModel, overrides: Partial<PageFrame> = {}): string =>
  buildPagePolicy(selectShell(model, { ...ENGLISH, ...overrides }, MANIFEST), model);

/** The HTML without the links to the other languages, which every page contains. */
export const removeLanguageLinks = (html: string): string =>
  html.replace(/<details class="languages".*?<\/details>/s, '');

/** Returns the visible text of the document. */
export const readVisibleText = (html: string): string =>
  html
    .replace(/<head>.*<\/head>|<script>.*<\/script>/gs, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&#39;|&#x27;/g, "'")
    .replace(/\s+/g, ' ');
