/** Classifies an error of the platform for a call that waits to be made. */
import { SvcApiError } from '@svc/sdk';

export type Failure =
  /** Nothing can be sent to the platform now: every call of the lane waits. */
  | { readonly kind: 'unreachable'; readonly message: string }
  /** A customer is paying the invoice. */
  | { readonly kind: 'in-progress'; readonly message: string }
  | { readonly kind: 'already-paid'; readonly message: string }
  | { readonly kind: 'not-found'; readonly message: string }
  /** This call alone is tried again later. */
  | { readonly kind: 'later'; readonly message: string }
  /** It would be refused each time. */
  | { readonly kind: 'refused'; readonly message: string };

/** No answer, too busy, or away. */
const UNREACHABLE: ReadonlySet<number> = new Set([0, 429, 502, 503, 504]);
/** The key is wrong or revoked. An administrator mends that: it is no reason to drop what tills have sent. */
const NO_ACCESS: ReadonlySet<number> = new Set([401, 403]);

export function classifyFailure(error: unknown): Failure {
  if (!(error instanceof SvcApiError)) return { kind: 'later', message: String(error) };
  const { httpStatus, code, retryable, message } = error;
  if (UNREACHABLE.has(httpStatus)) return { kind: 'unreachable', message };
  if (NO_ACCESS.has(httpStatus)) return { kind: 'unreachable', message: `The site's key is refused. ${message}` };
  if (code === 'payment.in-progress') return { kind: 'in-progress', message };
  if (code === 'payable.paid') return { kind: 'already-paid', message };
  // Without the platform's code it is the answer of a proxy, or of a wrong address: it tells nothing about the call.
  if (httpStatus === 404) return { kind: code === 'resource.not-found' ? 'not-found' : 'later', message };
  if (retryable || httpStatus >= 500 || httpStatus < 400) return { kind: 'later', message };
  return { kind: 'refused', message: error.errors.map((each) => each.message).join(' ') || message };
}
