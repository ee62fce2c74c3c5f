import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';

/** A page for a person who opens a link to an API. */
export interface PlainPage {
  readonly heading: string;
  readonly text: string;
}

const STYLE =
  ':root{color-scheme:light dark}body{margin:0 auto;padding:3rem 1.25rem;max-width:26rem;font:1.0625rem/1.5 system-ui,sans-serif}h1{font-size:1.375rem;line-height:1.3}';

const CONTENT_SECURITY_POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** Sends a page with a heading and a text, without a script. The texts are not escaped, so they must be constants. */
export async function sendPlainPage(reply: FastifyReply, status: number, { heading, text }: PlainPage): Promise<void> {
  await reply
    .status(status)
    .headers({ 'content-security-policy': CONTENT_SECURITY_POLICY, 'cache-control': 'no-store' })
    .type('text/html; charset=utf-8')
    .send(
      `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${heading}</title><meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,"><style>${STYLE}</style></head><body><main><h1>${heading}</h1><p>${text}</p></main></body></html>`,
    );
}
