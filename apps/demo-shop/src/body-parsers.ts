import type { FastifyInstance } from 'fastify';

/** Far above the size of the forms on the shop's own pages. */
const MAX_FORM_BYTES = 16 * 1024;

/**
 * Parses webhooks as raw bytes, because the signature covers the bytes and not the parsed JSON, and parses the forms of the
 * shop's own pages. If a form repeats a name, the last value counts.
 */
export function addBodyParsers(fastify: FastifyInstance): void {
  fastify.removeContentTypeParser('application/json');
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  fastify.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: MAX_FORM_BYTES },
    (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(body as string))),
  );
}
