import { createHash } from 'node:crypto';
import type { ChargeRecord } from './records.js';

/**
 * The bank's page on which a payer confirms or refuses a payment, similar to 3-D Secure. It simulates a page outside
 * the platform: it has another origin and no script, and it redirects back to the payment page.
 */
export function challengePage(record: ChargeRecord | undefined): string {
  const challenge = record?.challenge;
  if (!record || !challenge)
    return renderPage('There is nothing to confirm here', '<p>Go back to the page you came from.</p>');
  const returnUrl = escapeHtml(challenge.returnUrl);
  if (record.outcome !== 'challenged' || challenge.state !== 'pending') {
    return renderPage(
      'You have already answered',
      `<p>This payment was ${challenge.state === 'passed' ? 'confirmed' : 'not confirmed'}.</p><a class="button" href="${returnUrl}">Go back</a>`,
    );
  }
  return renderPage(
    'Is this payment yours?',
    `<p>A payment of <strong>${formatAmount(record)}</strong> with your card. Payment ${escapeHtml(record.paymentReference)}.</p>
    <form method="post">
      <button class="button" name="answer" value="confirm">Confirm the payment</button>
      <button class="button plain" name="answer" value="refuse">It is not mine</button>
    </form>
    <p class="hint">Test bank: to abandon the verification, leave this page.</p>`,
  );
}

/**
 * Headers of the page. Its content security policy does not restrict `form-action`: the browser would also apply it to
 * all redirects that follow the form, also to those of the page to which the payer returns.
 */
export function challengePageHeaders(): Record<string, string> {
  return {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'content-security-policy': `default-src 'none'; style-src '${STYLE_HASH}'; img-src data:; frame-ancestors 'none'; base-uri 'none'`,
  };
}

const STYLE = `
  :root { color-scheme: light dark; }
  body { margin: 0 auto; padding: 2rem 1.25rem; max-width: 26rem; font: 1rem/1.5 system-ui, sans-serif; }
  .bank { font-weight: 600; letter-spacing: 0.02em; }
  .button { display: block; box-sizing: border-box; width: 100%; margin-top: 0.75rem; padding: 0.75rem; border: 2px solid #1b4fc4;
    border-radius: 0.5rem; background: #1b4fc4; color: #fff; font: inherit; font-weight: 600; text-align: center; text-decoration: none; }
  .plain { background: transparent; color: inherit; }
  .hint { font-size: 0.875rem; }
`;
const STYLE_HASH = `sha256-${createHash('sha256').update(STYLE).digest('base64')}`;

function renderPage(heading: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${heading} · Test Bank</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,"><style>${STYLE}</style></head>
<body><main><p class="bank">Test Bank</p><h1>${heading}</h1>${body}</main></body></html>`;
}

function formatAmount({ amount, currency }: ChargeRecord): string {
  const cents = String(amount).padStart(3, '0');
  return `${escapeHtml(currency)} ${cents.slice(0, -2)}.${cents.slice(-2)}`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
