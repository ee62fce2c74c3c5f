import type { ErrorCode } from '../errors.js';

/** Body of every answer that refuses a request of the main API or of administration (RFC 9457, C5); a 401 has none. */
export interface Problem {
  /** URI of the kind of problem. */
  type: string;
  /** The catalogue's words for `code`. */
  title: string;
  /** Status of the answer. */
  status: number;
  /** Key of the error catalogue: branch on it, never on a message. */
  code: ErrorCode;
  /** What was wrong this time. */
  detail: string;
  /** Id of the request, as in `x-request-id` (C8). */
  instance: string;
  /** One for each offending field (C5), at least one. */
  errors: ProblemField[];
}

export interface ProblemField {
  /** Identifier that can be quoted to support (P4). */
  errorReference: string;
  message: string;
  /** Name of the field, of the parameter or of the header: `customFields[0].key`. Absent where no single one is wrong. */
  field?: string;
}
