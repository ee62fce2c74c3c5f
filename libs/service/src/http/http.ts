import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyServerOptions } from 'fastify';
import helmet from 'helmet';
import type { ServiceLog } from '../logging.js';
import { type ErrorFormat, rejectionLogFields, sendError, toDomainError } from './error-filter.js';
import { readJsonBodies } from './request-validation.js';

/** Largest request body (C6). */
export const MAX_BODY_BYTES = 256 * 1024;

/** HTTP settings of every service: limits, request ids, one log line for each request, security headers. */
export const httpSettings = {
  options: (
    { paramLengthMax = 200, ...errorForm }: { paramLengthMax?: number } & ErrorFormat,
    log: ServiceLog,
    trustedProxies?: string,
  ): FastifyServerOptions => ({
    trustProxy: trustedProxies ?? false,
    bodyLimit: MAX_BODY_BYTES,
    routerOptions: { maxParamLength: paramLengthMax },
    requestTimeout: 30_000,
    // C8: every response has an x-request-id of ours, which is in the log line.
    genReqId: () => randomUUID(),
    logger: false,
    // For a path that no router can parse: the hooks below do not run for it.
    frameworkErrors: (error, request, reply) => {
      log.info({ requestId: request.id, code: error.code }, 'address refused');
      reply.header('x-request-id', request.id);
      sendError(reply, request, toDomainError(error), errorForm);
    },
  }),

  configure(fastify: FastifyInstance, log: ServiceLog, environment: 'development' | 'production'): void {
    readJsonBodies(fastify);
    // The payment page has a policy of its own; an API response needs none of its own but must not be framed.
    // Created once: the plugin of Fastify would create it for each request.
    const setSecurityHeaders = helmet({
      contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
      referrerPolicy: { policy: 'no-referrer' },
      crossOriginResourcePolicy: { policy: 'same-origin' },
      // A browser applies HSTS for half a year, on every port of the host name: for a machine with a self-signed certificate
      // (`./svc up --lan`) it would block every other program there.
      strictTransportSecurity: environment === 'production',
    });
    fastify.addHook('onRequest', (request, reply, done) => {
      reply.header('x-request-id', request.id);
      setSecurityHeaders(request.raw, reply.raw, (error) => done(error as Error | undefined));
    });
    // The last response on a connection closes it; otherwise the shutdown would wait for the client to do so.
    let closing = false;
    fastify.addHook('preClose', (done) => {
      closing = true;
      done();
    });
    fastify.addHook('onSend', (_request, reply, payload, done) => {
      if (closing) reply.header('connection', 'close');
      done(null, payload);
    });
    // An allow-list: never addresses with their query, never headers, never bodies.
    fastify.addHook('onResponse', (request, reply, done) => {
      log.info(
        {
          requestId: request.id,
          traceparent: traceparentOf(request.headers['traceparent']),
          method: request.method,
          route: request.routeOptions.url ?? 'unknown',
          statusCode: reply.statusCode,
          ms: Math.round(reply.elapsedTime),
          ...rejectionLogFields(request),
        },
        'request',
      );
      done();
    });
  },
};

function traceparentOf(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' && /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(header)
    ? header
    : undefined;
}
