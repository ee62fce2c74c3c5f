import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common';
import { ERROR_PAGES_PATH, type ErrorCode, errorPageUrl } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { isTemporaryDatabaseError } from '@svc/persistence/transaction';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { throwError } from 'rxjs';
import type { ServiceLog } from '../logging.js';
import { explainUnknownRoute } from './unknown-routes.js';

/**
 * Formats an error response for the callers of one service. A string is sent unchanged. Any other body is sent as JSON.
 * `errorPage` is the URL of the page that explains the error.
 */
export type ErrorBody = (
  error: DomainError,
  request: FastifyRequest,
  errorPage: string,
) => { contentType: string; body: unknown; headers?: Readonly<Record<string, string>> };

const sentErrors = new WeakMap<object, DomainError>();

/**
 * Log fields of a request that got an error: the error code and, for errors of credentials, the message. The messages
 * of other errors are not logged, because they may contain personal data from the request.
 */
export function rejectionLogFields(request: object): { code?: ErrorCode; why?: string } {
  const error = sentErrors.get(request);
  if (!error) return {};
  const isCredentialError = [401, 403].includes(error.entry.httpStatus);
  return { code: error.code, ...(isCredentialError ? { why: error.message } : {}) };
}

/**
 * Sends an error response for every exception. The response to a DomainError contains its code and message. Any other
 * exception is logged completely, and its response only contains the code `internal`.
 */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(
    private readonly log: ServiceLog,
    private readonly format: ErrorFormat,
  ) {}

  catch(exception: unknown, host: ArgumentsHost): unknown {
    if (host.getType() === 'rpc') return throwError(() => this.messageError(exception, host));

    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const error =
      this.format.explainsUnknownRoutes && request.is404
        ? this.unknownRouteError(request, reply)
        : toDomainError(exception);
    if (error.entry.httpStatus >= 500)
      this.log.error({ err: exception, requestId: request.id, code: error.code }, 'request failed');

    return sendError(reply, request, error, this.format);
  }

  private unknownRouteError({ method, url }: FastifyRequest, reply: FastifyReply): DomainError {
    const { errorPages } = this.format;
    const { code, message, allow } = explainUnknownRoute({ method, address: url, errorPages });
    if (allow !== undefined) reply.header('allow', allow);
    return new DomainError(code, { message });
  }

  /**
   * The error of an event handler is passed to the consumer unchanged, because the consumer decides whether to retry.
   * The error of a command is sent to the requesting service, where a person waits. Therefore a temporary error must be
   * sent as `service.not-ready`, not as `internal`.
   */
  private messageError(exception: unknown, host: ArgumentsHost): unknown {
    const isEvent = 'connection' in host.switchToRpc().getContext<object>();
    if (isEvent || !isTemporaryDatabaseError(exception)) return exception;
    this.log.error({ err: exception }, 'command failed, the caller may retry');
    return toDomainError(exception);
  }
}

/** Format of one service's error responses. */
export interface ErrorFormat {
  /** RFC 9457 by default. */
  readonly errorBody?: ErrorBody | undefined;
  /**
   * Base URL of the error pages, without a slash at the end. The default is only a path, so that the pages are on the
   * host of the request.
   */
  readonly errorPages?: string | undefined;
  /**
   * Whether a 404 for an unknown path names a similar path of the platform, and an unknown method of a documented path
   * is a 405. False for programs that are not services of the platform.
   */
  readonly explainsUnknownRoutes?: boolean | undefined;
}

export function sendError(
  reply: FastifyReply,
  request: FastifyRequest,
  error: DomainError,
  { errorBody = problemBody, errorPages = ERROR_PAGES_PATH }: ErrorFormat,
): FastifyReply {
  sentErrors.set(request, error);
  const errorPage = errorPageUrl(errorPages, error.code);
  const { contentType, body, headers } = errorBody(error, request, errorPage);
  // Code and link are also headers, because two kinds of bodies cannot contain them: the envelope of the hosted gateway
  // and the empty body of a 401.
  reply.headers({ [ERROR_CODE_HEADER]: error.code, link: helpLinkTo(errorPage) });
  // A handler may have set a caching header before it failed.
  reply.header('cache-control', 'no-store');
  if (error.retryAfterSeconds !== undefined) reply.header('retry-after', String(error.retryAfterSeconds));
  reply.status(error.entry.httpStatus).headers(headers ?? {});
  if (body === undefined) return reply.send();
  return reply.type(contentType).send(typeof body === 'string' ? body : JSON.stringify(body));
}

export function toDomainError(exception: unknown): DomainError {
  if (exception instanceof DomainError) return exception;
  if (isTemporaryDatabaseError(exception))
    return new DomainError('service.not-ready', { retryAfterSeconds: 1, cause: exception });
  const status =
    exception instanceof HttpException ? exception.getStatus() : (exception as { statusCode?: unknown })?.statusCode;
  const code = typeof status === 'number' ? CODE_OF_FRAMEWORK_STATUS[status] : undefined;
  return new DomainError(code ?? 'internal', { cause: exception });
}

const CODE_OF_FRAMEWORK_STATUS: Readonly<Record<number, ErrorCode>> = {
  400: 'request.invalid',
  401: 'credentials.invalid',
  403: 'credentials.forbidden',
  404: 'resource.not-found',
  405: 'request.method-not-allowed',
  413: 'request.too-large',
  414: 'request.invalid',
  415: 'request.unsupported-media-type',
  429: 'request.rate-limited',
};

/** Header of every error response: the error code of the catalogue. */
export const ERROR_CODE_HEADER = 'x-error-code';

/** The header `Link` (RFC 8288) of an error response, which refers to the page that explains the error. */
export function helpLinkTo(errorPage: string): string {
  return `<${errorPage}>; rel="help"`;
}

/**
 * The error format of the main API (RFC 9457, C5). `type` is the page of the error, `code` is the error code of the
 * catalogue. The body of every 401 is empty.
 */
export const problemBody: ErrorBody = (error, request, errorPage) => {
  const { httpStatus, errorReference, message } = error.entry;
  if (httpStatus === 401) return { contentType: '', body: undefined };
  const errors = error.fields.length > 0 ? error.fields : [{ message: error.message }];
  return {
    contentType: 'application/problem+json',
    body: {
      type: errorPage,
      title: message,
      status: httpStatus,
      code: error.code,
      detail: error.message,
      instance: request.id,
      errors: errors.map((problem) => ({ errorReference, ...problem })),
    },
  };
};
