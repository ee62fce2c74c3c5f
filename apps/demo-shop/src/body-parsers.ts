import type { FastifyInstance } from 'fastify';

/** Limit for the forms of the shop's pages, which are much smaller. */
const MAX_FORM_BYTES = 16 * 1024;

/**
 * Adds parsers for webhooks and for the forms of the shop's pages. The body of a webhook stays raw bytes, because the
 * signature covers the bytes. If a form contains a name several times, the last value is used.
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
