import { ERROR_CATALOGUE, type ErrorCode, type ErrorEntry } from '@svc/contracts';

/** An invalid field of a request, with a message for the caller. */
export interface FieldProblem {
  /** Path in the body or query, e.g. `customFields[0].key`. */
  readonly field: string;
  readonly message: string;
}

export interface DomainErrorDetails {
  /** Public text that replaces the catalogue's; must not carry internals. */
  readonly message?: string;
  readonly fields?: readonly FieldProblem[];
  /** Sent as `Retry-After`. */
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

/**
 * The only error that business code throws. The HTTP layer maps its code to a status and text by the catalogue. Any other error is
 * an internal error, whose text is not sent to the caller.
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

/** Refuses a request because of one field. */
export function invalidField(field: string, message: string): DomainError {
  return new DomainError('request.invalid', { fields: [{ field, message }] });
}
