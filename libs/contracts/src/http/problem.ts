import type { ErrorCode } from '../errors.js';

/** Body of every error response of the main API and the administration API (RFC 9457, C5); a 401 has no body. */
export interface Problem {
  /** URI of the kind of problem. */
  type: string;
  /** The catalogue's message for `code`. */
  title: string;
  /** HTTP status of the response. */
  status: number;
  /** Key of the error catalogue: branch on it, never on a message. */
  code: ErrorCode;
  /** Details of this error. */
  detail: string;
  /** Id of the request, as in `x-request-id` (C8). */
  instance: string;
  /** One error for each invalid field (C5), at least one error. */
  errors: ProblemField[];
}

interface ProblemField {
  /** Identifier to quote to support (P4). */
  errorReference: string;
  message: string;
  /** Name of the field, parameter or header: `customFields[0].key`. Absent if the error concerns no single field. */
  field?: string;
}
