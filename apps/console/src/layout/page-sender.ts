import type { FastifyReply } from 'fastify';

/**
 * Only files of the console; charts and QR codes are inline SVG. No other page may frame the console.
 *
 * @param styles hashes of the styles of a document inside the page, which has the same policy
 */
const buildPolicy = (styles: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "connect-src 'self'",
    `style-src ${["'self'", ...styles.map((hash) => `'${hash}'`)].join(' ')}`,
    "img-src 'self' data:",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

/** Sends a page. Browsers and proxies keep no copy of it. */
export async function sendPage(
  reply: FastifyReply,
  statusCode: number,
  html: string,
  styles: readonly string[] = [],
): Promise<void> {
  await reply
    .status(statusCode)
    .headers({
      'content-security-policy': buildPolicy(styles),
      'cache-control': 'no-store',
      'referrer-policy': 'same-origin',
    })
    .type('text/html; charset=utf-8')
    .send(html);
}

/** Redirects after a form, so that reloading the page does not send the form again. */
export async function redirect(reply: FastifyReply, path: string): Promise<void> {
  await reply.header('cache-control', 'no-store').redirect(path, 303);
}
