import type { ErrorCode } from '../errors.js';
import type { ErrorHelp } from './error-help.js';
import { PAYMENT_ERROR_HELP } from './payment-errors.js';
import { REQUEST_ERROR_HELP } from './request-errors.js';

/** A page for each code of the catalogue: a code without one does not compile. */
export const ERROR_HELP: Readonly<Record<ErrorCode, ErrorHelp>> = { ...PAYMENT_ERROR_HELP, ...REQUEST_ERROR_HELP };

/**
 * Address of the page of an error, the `type` of a problem (RFC 9457, C5). `pages` is the address of all of them without a slash
 * at its end, `ERROR_PAGES_PATH` where the platform's own address is not configured: relative to the one that was called.
 */
export function errorPageOf(pages: string, code: ErrorCode): string {
  return `${pages}/${code}`;
}
