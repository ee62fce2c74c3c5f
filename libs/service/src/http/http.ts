import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { context } from '@opentelemetry/api';
import { getRPCMetadata } from '@opentelemetry/core';
import type { FastifyInstance, FastifyServerOptions } from 'fastify';
import helmet from 'helmet';
import type { ServiceLog } from '../logging.js';
import { type ErrorFormat, rejectionLogFields, sendError, toDomainError } from './error-filter.js';
import { readJsonBodies } from './request-bodies/request-validation.js';

/** Largest request body (C6). */
export const MAX_BODY_BYTES = 256 * 1024;

/**
 * Time in milliseconds after which an idle connection is closed. It is longer than the idle timeouts of load balancers (60 s
 * to 600 s): if the service closed a connection first, a request that the load balancer sends at this moment would fail.
 */
const KEEP_ALIVE_MS = 620_000;

/** HTTP settings of every service: limits, request ids, one log entry for each request, security headers. */
export const httpSettings = {
  options: (
    { maxParamLength = 200, ...errorFormat }: { maxParamLength?: number } & ErrorFormat,
    log: ServiceLog,
    trustedProxies?: string,
  ): FastifyServerOptions => ({
    trustProxy: trustedProxies ?? false,
    bodyLimit: MAX_BODY_BYTES,
    routerOptions: { maxParamLength },
    requestTimeout: 30_000,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // Every response has an x-request-id that the service generates and logs (C8).
    genReqId: () => randomUUID(),
    logger: false,
    // The router cannot parse some paths. For such a path Fastify calls this function, but not the hooks below.
    frameworkErrors: (error, request, reply) => {
      log.info({ requestId: request.id, code: error.code }, 'address refused');
      reply.header('x-request-id', request.id);
      sendError(reply, request, toDomainError(error), errorFormat);
    },
  }),

  configure(fastify: FastifyInstance, log: ServiceLog, environment: 'development' | 'production'): void {
    readJsonBodies(fastify);
    // Headers of API responses. The payment page sets its own Content-Security-Policy.
    const securityHeaders = readHeaders(
      helmet({
        contentSecurityPolicy: {
          useDefaults: false,
          directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
        },
        referrerPolicy: { policy: 'no-referrer' },
        crossOriginResourcePolicy: { policy: 'same-origin' },
        // A browser applies HSTS to every port of a host name for half a year. Outside production, on a machine with a
        // self-signed certificate (`./svc up --lan`), it would block the other programs of the machine.
        strictTransportSecurity: environment === 'production',
      }),
    );
    fastify.addHook('onRequest', (request, reply, done) => {
      nameRoute(request.routeOptions.url);
      reply.headers({ ...securityHeaders, 'x-request-id': request.id });
      done();
    });
    // During a shutdown, each response closes its connection. Otherwise the shutdown would wait until the client closes
    // the connection.
    let isClosing = false;
    fastify.addHook('preClose', (done) => {
      isClosing = true;
      done();
    });
    fastify.addHook('onSend', (_request, reply, payload, done) => {
      if (isClosing) reply.header('connection', 'close');
      done(null, payload);
    });
    // Only these fields are logged. URLs with queries, headers and bodies are not logged, because they may contain
    // personal data.
    fastify.addHook('onResponse', (request, reply, done) => {
      log.info(
        {
          requestId: request.id,
          traceparent: readTraceparent(request.headers['traceparent']),
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

/** Tells the instrumentation of the HTTP server the route of the current request, for its metric and its span. */
function nameRoute(route: string | undefined): void {
  const metadata = getRPCMetadata(context.active());
  if (metadata && route !== undefined) metadata.route = route;
}

/** The headers that Helmet sets. They are the same for each request, so Helmet runs only once. */
function readHeaders(setHeaders: ReturnType<typeof helmet>): Record<string, string> {
  const headers: Record<string, string> = {};
  const response = {
    setHeader: (name: string, value: string) => (headers[name.toLowerCase()] = value),
    removeHeader: () => undefined,
  };
  setHeaders({} as IncomingMessage, response as unknown as ServerResponse, (error) => {
    if (error) throw error as Error;
  });
  return headers;
}

function readTraceparent(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' && /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(header)
    ? header
    : undefined;
}
