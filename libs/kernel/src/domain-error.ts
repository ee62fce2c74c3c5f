import { ERROR_CATALOGUE, type ErrorCode, type ErrorEntry } from '@svc/contracts';

/** An invalid field of a request, with a message for the caller. */
export interface FieldProblem {
  /** Path in the body or query, e.g. `customFields[0].key`. */
  readonly field: string;
  readonly message: string;
}

interface DomainErrorDetails {
  /** Replaces the message of the catalogue. It is sent to the caller, so it must not contain internal details. */
  readonly message?: string;
  readonly fields?: readonly FieldProblem[];
  /** Sent as `Retry-After`. */
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

/**
 * The only error that business code throws. The HTTP layer gets the status of its code from the catalogue. Any other
 * error is an internal error, whose message is not sent to the caller.
 */
export class DomainError extends Error {
  readonly code: ErrorCode;
  readonly fields: readonly FieldProblem[];
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, details: DomainErrorDetails = {}) {
    super(details.message ?? ERROR_CATALOGUE[code].message, { cause: details.cause });
    this.name = 'DomainError';
    this.code = code;
    this.fields = details.fields ?? [];
    this.retryAfterSeconds = details.retryAfterSeconds;
  }

  get entry(): ErrorEntry {
    return ERROR_CATALOGUE[this.code];
  }
}

/** The error for a request with one invalid field. */
export function invalidField(field: string, message: string): DomainError {
  return new DomainError('request.invalid', { fields: [{ field, message }] });
}
