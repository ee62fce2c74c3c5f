import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';

export interface BrowserDataPage {
  readonly merchantName: string;
  /** Cents, to be charged. */
  readonly amount: number;
  readonly currencyISOCode: string;
  /** Why the last request did not charge. A constant text. */
  readonly problem?: string | undefined;
}

/**
 * Fills the form's only field with the data that only a script can read. If the browser does not provide them, the field
 * stays empty, because the payment does not need them.
 */
export const BROWSER_DATA_SCRIPT = `try{document.forms[0].elements.browser.value=JSON.stringify({language:navigator.language,screenWidth:screen.width,screenHeight:screen.height,colorDepth:screen.colorDepth,timeZoneOffsetMinutes:new Date().getTimezoneOffset()})}catch{}`;

const STYLE =
  ':root{color-scheme:light dark}body{margin:0 auto;padding:3rem 1.25rem;max-width:26rem;font:1.0625rem/1.5 system-ui,sans-serif}h1{font-size:1.375rem;line-height:1.3}button{box-sizing:border-box;width:100%;padding:.75rem;border:2px solid #1b4fc4;border-radius:.5rem;background:#1b4fc4;color:#fff;font:inherit;font-weight:600}button:focus-visible{outline:3px solid currentColor;outline-offset:3px}';

const sha256 = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/**
 * The policy does not restrict `form-action`, because browsers would also apply it to the redirects that follow the form,
 * to the bank and to the partner.
 */
const CONTENT_SECURITY_POLICY = `default-src 'none'; script-src ${sha256(BROWSER_DATA_SCRIPT)}; style-src ${sha256(STYLE)}; img-src data:; base-uri 'none'; frame-ancestors 'none'`;

/** Sends our page that a payer confirms before the charge. It works without a script. */
export async function sendBrowserDataPage(reply: FastifyReply, status: number, page: BrowserDataPage): Promise<void> {
  await reply
    .status(status)
    .headers({ 'content-security-policy': CONTENT_SECURITY_POLICY, 'cache-control': 'no-store' })
    .type('text/html; charset=utf-8')
    .send(renderBrowserDataPage(page));
}

/** The form has no address, so it is sent to the signed URL of the page. */
export function renderBrowserDataPage({ merchantName, amount, currencyISOCode, problem }: BrowserDataPage): string {
  const heading = 'Confirm your payment';
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${heading}</title><meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,"><style>${STYLE}</style></head><body><main><h1>${heading}</h1>${problem === undefined ? '' : `<p role="alert">${problem}</p>`}<p>You pay <strong>${escapeHtml(formatAmount(amount, currencyISOCode))}</strong> to <strong>${escapeHtml(merchantName)}</strong>.</p><p>Your bank may ask you to confirm that it is you. To check that, your bank gets your browser’s language, screen size and time zone.</p><noscript><p>JavaScript is off in your browser, so your bank gets less data, and may decline the payment. You can continue without JavaScript.</p></noscript><form method="post"><input type="hidden" name="browser"><button>Continue</button></form></main><script>${BROWSER_DATA_SCRIPT}</script></body></html>`;
}

/** 12345 cents as "R 123.45". */
function formatAmount(cents: number, currency: string): string {
  const digits = String(cents).padStart(3, '0');
  const decimal = `${digits.slice(0, -2)}.${digits.slice(-2)}` as Intl.StringNumericLiteral;
  const format = { style: 'currency', currency, currencyDisplay: 'narrowSymbol', minimumFractionDigits: 2 } as const;
  return new Intl.NumberFormat('en', format).format(decimal).replaceAll(/\s/g, ' ');
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
