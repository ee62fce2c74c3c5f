/** Classifies an error of a call to the platform. */
import { SvcApiError } from '@svc/sdk';

export type Failure =
  /** The platform cannot be reached, or refuses the key. Every call of the queue waits. */
  | { readonly kind: 'unreachable'; readonly message: string }
  /** A customer is paying the invoice. */
  | { readonly kind: 'in-progress'; readonly message: string }
  | { readonly kind: 'already-paid'; readonly message: string }
  | { readonly kind: 'not-found'; readonly message: string }
  /** Only this call is retried later. The other calls of the queue do not wait for it. */
  | { readonly kind: 'later'; readonly message: string }
  /** A retry would be refused again. */
  | { readonly kind: 'refused'; readonly message: string };

/** The platform is overloaded or unavailable, or sent no response (0). */
const UNREACHABLE: ReadonlySet<number> = new Set([0, 429, 502, 503, 504]);
/** The key is wrong or revoked. The calls stay in the queue, because an administrator can correct the key. */
const NO_ACCESS: ReadonlySet<number> = new Set([401, 403]);

export function classifyFailure(error: unknown): Failure {
  if (!(error instanceof SvcApiError)) return { kind: 'later', message: String(error) };
  const { httpStatus, code, retryable, message } = error;
  if (UNREACHABLE.has(httpStatus)) return { kind: 'unreachable', message };
  if (NO_ACCESS.has(httpStatus)) return { kind: 'unreachable', message: `The site's key is refused. ${message}` };
  if (code === 'payment.in-progress') return { kind: 'in-progress', message };
  if (code === 'payable.paid') return { kind: 'already-paid', message };
  // A 404 without the platform's error code comes from a proxy or a wrong URL. It does not mean that the resource is
  // missing.
  if (httpStatus === 404) return { kind: code === 'resource.not-found' ? 'not-found' : 'later', message };
  if (retryable || httpStatus >= 500 || httpStatus < 400) return { kind: 'later', message };
  return { kind: 'refused', message: error.errors.map((each) => each.message).join(' ') || message };
}
