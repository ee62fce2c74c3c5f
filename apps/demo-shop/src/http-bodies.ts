import type { FastifyInstance } from 'fastify';

/** Largest form a page of ours sends, in bytes; a browser's never comes near it. */
const FORM_BYTES_MAX = 16 * 1024;

/**
 * Bodies as this shop needs them: webhooks as the very bytes that were signed (JSON that was parsed and written again
 * has another signature), and the forms of its own pages. A name given twice counts once, the last time.
 */
export function readShopBodies(fastify: FastifyInstance): void {
  fastify.removeContentTypeParser('application/json');
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  fastify.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: FORM_BYTES_MAX },
    (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(body as string))),
  );
}
