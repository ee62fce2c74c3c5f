import type { FastifyInstance } from 'fastify';

/** Maximum size of a form. The forms on the shop's pages are much smaller. */
const MAX_FORM_BYTES = 16 * 1024;

/**
 * Adds a parser for webhooks (JSON) and a parser for the forms on the shop's pages. The handler of webhooks gets the
 * body as bytes, not as an object, because the signature is computed from the bytes. If a form contains a field several
 * times, the last value is used.
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
