import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common';
import { ERROR_PAGES_PATH, type ErrorCode, errorPageUrl } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { isTemporaryDatabaseError } from '@svc/persistence/transaction';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { throwError } from 'rxjs';
import type { ServiceLog } from '../logging.js';

/**
 * Formats an error response for the callers of one service. Text is sent as it is, anything else as JSON. `errorPage` is the
 * address of the page that explains the error.
 */
export type ErrorBody = (
  error: DomainError,
  request: FastifyRequest,
  errorPage: string,
) => { contentType: string; body: unknown; headers?: Readonly<Record<string, string>> };

const refusals = new WeakMap<object, DomainError>();

/**
 * Log fields of a rejected request: the catalogue's key, and for credentials the reason. Messages of other errors stay out: they
 * may repeat personal data from the request.
 */
export function rejectionLogFields(request: object): { code?: ErrorCode; why?: string } {
  const error = refusals.get(request);
  if (!error) return {};
  const isOfCredentials = [401, 403].includes(error.entry.httpStatus);
  return { code: error.code, ...(isOfCredentials ? { why: error.message } : {}) };
}

/**
 * Turns every error into a response. A DomainError has its own response; any other error is logged completely and answered as
 * `internal`, so that it reveals nothing.
 */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(
    private readonly log: ServiceLog,
    private readonly form: ErrorFormat,
  ) {}

  catch(exception: unknown, host: ArgumentsHost): unknown {
    if (host.getType() === 'rpc') return throwError(() => this.messageError(exception, host));

    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const error = toDomainError(exception);
    if (error.entry.httpStatus >= 500)
      this.log.error({ err: exception, requestId: request.id, code: error.code }, 'request failed');

    return sendError(reply, request, error, this.form);
  }

  /**
   * An event's error goes to the consumer unchanged, which decides about a retry. A command's error goes to the calling service,
   * where a person waits: a retryable error must arrive as such, and not as an internal error.
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
  /** Base address of the error pages, without a slash at its end; by default, the path on the called host. */
  readonly errorPages?: string | undefined;
}

export function sendError(
  reply: FastifyReply,
  request: FastifyRequest,
  error: DomainError,
  { errorBody = problemBody, errorPages = ERROR_PAGES_PATH }: ErrorFormat,
): FastifyReply {
  refusals.set(request, error);
  const errorPage = errorPageUrl(errorPages, error.code);
  const { contentType, body, headers } = errorBody(error, request, errorPage);
  // Also in the header, because some agreed bodies have no place for it: the envelope of the hosted gateway, an empty 401.
  reply.header('link', helpLinkTo(errorPage));
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
  405: 'resource.not-found',
  413: 'request.too-large',
  414: 'request.invalid',
  415: 'request.unsupported-media-type',
  429: 'request.rate-limited',
};

/** Field `Link` (RFC 8288) of an error response: the page that explains it. */
export function helpLinkTo(errorPage: string): string {
  return `<${errorPage}>; rel="help"`;
}

/**
 * RFC 9457, the main API's format (C5); `type` is the error's page, `code` the key of the catalogue, by which programs branch. The
 * body of every 401 is empty.
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
