import { ERROR_CATALOGUE, type ErrorCode, type ErrorEntry } from '@svc/contracts';

/** A field of a request that cannot be accepted, and why, in words for the caller. */
export interface FieldProblem {
  /** Path in the body or query, e.g. `customFields[0].key`. */
  readonly field: string;
  readonly message: string;
}

export interface DomainErrorDetails {
  /** Public text that replaces the catalogue's; must not carry internals. */
  readonly message?: string;
  readonly fields?: readonly FieldProblem[];
  /** Told to the caller as `Retry-After`. */
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

/**
 * The one error that business code throws. What it means to a caller is looked up in the catalogue at the edge;
 * anything else that is thrown is an internal error and its text stays inside.
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
