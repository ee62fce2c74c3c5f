import { createHash } from 'node:crypto';
import type { ChallengeRecord } from '../state/records.js';

/** The 3D Secure page. It has another origin than the platform, and no script. */
export function challengePage(challenge: ChallengeRecord | undefined, hasLeft: boolean): string {
  if (!challenge) return renderPage('There is nothing to confirm here', '<p>Go back to the page you came from.</p>');
  if (challenge.state !== 'pending')
    return renderPage('You have already answered', '<p>Go back to the page you came from.</p>');
  if (hasLeft)
    return renderPage('You have left without an answer', '<p>Nothing was authorised. You can close this page.</p>');
  const { amount, merchantAccount, reference, card } = challenge.order;
  const cents = String(amount.value).padStart(3, '0');
  const money = `${escapeHtml(amount.currency)} ${cents.slice(0, -2)}.${cents.slice(-2)}`;
  return renderPage(
    'Is this payment yours?',
    `<p>A payment of <strong>${money}</strong> to ${escapeHtml(merchantAccount)} with the card that ends in ${card.lastFour}.
    Reference ${escapeHtml(reference)}.</p>
    <form method="post">
      <button class="button" name="answer" value="pass">Pass the authentication</button>
      <button class="button plain" name="answer" value="fail">Fail the authentication</button>
      <button class="button plain" name="answer" value="leave">Leave without an answer</button>
    </form>`,
  );
}

const STYLE = `
  :root { color-scheme: light dark; }
  body { margin: 0 auto; padding: 2rem 1.25rem; max-width: 26rem; font: 1rem/1.5 system-ui, sans-serif; }
  .bank { font-weight: 600; }
  .button { display: block; box-sizing: border-box; width: 100%; margin-top: 0.75rem; padding: 0.75rem; border: 2px solid #1b4fc4;
    border-radius: 0.5rem; background: #1b4fc4; color: #fff; font: inherit; font-weight: 600; }
  .plain { background: transparent; color: inherit; }
`;
const STYLE_HASH = `sha256-${createHash('sha256').update(STYLE).digest('base64')}`;

/**
 * Headers of the page. Its content security policy does not restrict `form-action`: the browser would also apply it to
 * all redirects that follow the form, also to those of the page to which the payer returns.
 */
export const CHALLENGE_PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'content-security-policy': `default-src 'none'; style-src '${STYLE_HASH}'; img-src data:; frame-ancestors 'none'; base-uri 'none'`,
};

function renderPage(heading: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${heading} · 3D Secure emulator</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,"><style>${STYLE}</style></head>
<body><main><p class="bank">3D Secure: an emulator, not a bank</p><h1>${heading}</h1>${body}</main></body></html>`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
