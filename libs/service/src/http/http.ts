import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyServerOptions } from 'fastify';
import helmet from 'helmet';
import { answerError, asDomainError, type ErrorForm, refusalOf } from './error-filter.js';
import type { ServiceLog } from '../logging.js';
import { readJsonBodies } from './request-validation.js';

/** Largest request body (C6). */
export const BODY_BYTES_MAX = 256 * 1024;

/** How every service accepts HTTP: bounds, request ids, one log line a request, security headers. */
export const acceptRequests = {
  options: (
    { paramLengthMax = 200, ...errorForm }: { paramLengthMax?: number } & ErrorForm,
    log: ServiceLog,
    trustedProxies?: string,
  ): FastifyServerOptions => ({
    trustProxy: trustedProxies ?? false,
    bodyLimit: BODY_BYTES_MAX,
    routerOptions: { maxParamLength: paramLengthMax },
    requestTimeout: 30_000,
    // C8: every answer has an x-request-id of ours, which finds the log line.
    genReqId: () => randomUUID(),
    logger: false,
    // An address that no router can read: the hooks below are not run for it.
    frameworkErrors: (error, request, reply) => {
      log.info({ requestId: request.id, code: error.code }, 'address refused');
      reply.header('x-request-id', request.id);
      answerError(reply, request, asDomainError(error), errorForm);
    },
  }),

  configure(fastify: FastifyInstance, log: ServiceLog, environment: 'development' | 'production'): void {
    readJsonBodies(fastify);
    // The payment page brings a policy of its own; an API answer needs none of its own but must not be framed.
    // Made once: the plugin of Fastify makes it anew for each request.
    const setSecurityHeaders = helmet({
      contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
      referrerPolicy: { policy: 'no-referrer' },
      crossOriginResourcePolicy: { policy: 'same-origin' },
      // A browser keeps to it for half a year, on every port of the name: under that of a machine with a self-signed
      // certificate (`./svc up --lan`) it would lock its owner out of everything else that runs there.
      strictTransportSecurity: environment === 'production',
    });
    fastify.addHook('onRequest', (request, reply, done) => {
      reply.header('x-request-id', request.id);
      setSecurityHeaders(request.raw, reply.raw, (error) => done(error as Error | undefined));
    });
    // The last answer on a connection says so, or the shutdown would wait for the client to let go of it.
    let closing = false;
    fastify.addHook('preClose', (done) => {
      closing = true;
      done();
    });
    fastify.addHook('onSend', (_request, reply, payload, done) => {
      if (closing) reply.header('connection', 'close');
      done(null, payload);
    });
    // Written from an allow-list: never addresses with their query, never headers, never bodies.
    fastify.addHook('onResponse', (request, reply, done) => {
      log.info(
        {
          requestId: request.id,
          traceparent: traceparentOf(request.headers['traceparent']),
          method: request.method,
          route: request.routeOptions.url ?? 'unknown',
          statusCode: reply.statusCode,
          ms: Math.round(reply.elapsedTime),
          ...refusalOf(request),
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
