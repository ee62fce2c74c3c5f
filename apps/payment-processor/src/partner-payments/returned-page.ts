import { createHash } from 'node:crypto';
import type { PaymentState } from '@svc/contracts';

/** Texts for a payer who returns from the bank when the partner has named no page of its own. */
const PAGE_TEXTS: Readonly<Record<PaymentState | 'unknown', readonly [heading: string, text: string]>> = {
  success: ['Your payment is complete', 'You can close this page and go back to your app.'],
  failed: ['Your payment was not completed', 'Nothing was charged. Go back to your app to try again.'],
  processing: ['Still checking with your bank', 'Do not pay again. Your app shows the outcome in a moment.'],
  verificationRequired: ['Still waiting for your bank', 'Do not pay again. Your app shows the outcome in a moment.'],
  unknown: ['There is nothing to see here', 'Go back to your app to see your payment.'],
};

const STYLE =
  ':root{color-scheme:light dark}body{margin:0 auto;padding:3rem 1.25rem;max-width:26rem;font:1.0625rem/1.5 system-ui,sans-serif}h1{font-size:1.375rem;line-height:1.3}';

export const RETURNED_PAGE_CONTENT_SECURITY_POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** Contains no script and no input of a request. */
export function returnedPage(state: PaymentState | 'unknown'): string {
  const [heading, text] = PAGE_TEXTS[state];
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${heading}</title><meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,"><style>${STYLE}</style></head><body><main><h1>${heading}</h1><p>${text}</p></main></body></html>`;
}
