import type { ApiErrorItem, ResponseStatus } from './hosted-payment.js';

/**
 * A failed call: the hosted gateway responded with an error envelope (H1), the main API responded with a problem (RFC
 * 9457, C5), or there was no response.
 */
export class SvcApiError extends Error {
  override readonly name = 'SvcApiError';
  /** HTTP status; 0 if there was no response. */
  readonly httpStatus: number;
  /**
   * Status of the gateway's envelope. If the response has no envelope, the status is derived from the HTTP status.
   * Without a response, it is `InternalServer`.
   */
  readonly status: ResponseStatus;
  readonly errors: readonly ApiErrorItem[];
  /** Error code of the main API, e.g. `payable.mismatch`: branch on it. Errors of the hosted gateway have no code. */
  readonly code: string | undefined;
  /** URL of the page that explains the error and its solution (RFC 9457). Also in the message. */
  readonly type: string | undefined;
  /** `x-request-id` of the response (C8): quote it to support. */
  readonly requestId: string | undefined;
  /** Whether the same call may succeed later without a change. */
  readonly retryable: boolean;
  /** Seconds to wait before the next attempt, from the header `Retry-After`. */
  readonly retryAfterSeconds: number | undefined;

  constructor(failure: {
    httpStatus: number;
    status: ResponseStatus;
    errors: readonly ApiErrorItem[];
    code?: string | undefined;
    type?: string | undefined;
    requestId?: string | undefined;
    retryable: boolean;
    retryAfterSeconds?: number | undefined;
    cause?: unknown;
  }) {
    // A 401 of the main API has no body (A1), so its code is all that tells the reason.
    const summary = failure.errors.map((error) => error.message).join('; ') || (failure.code ?? failure.status);
    const page = failure.type === undefined ? '' : ` (see ${failure.type})`;
    super(
      `${failure.httpStatus === 0 ? 'No response' : failure.httpStatus}: ${summary}${page}`,
      failure.cause === undefined ? undefined : { cause: failure.cause },
    );
    this.httpStatus = failure.httpStatus;
    this.status = failure.status;
    this.errors = failure.errors;
    this.code = failure.code;
    this.type = failure.type;
    this.requestId = failure.requestId;
    this.retryable = failure.retryable;
    this.retryAfterSeconds = failure.retryAfterSeconds;
  }
}
