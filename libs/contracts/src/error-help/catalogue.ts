import type { ErrorCode } from '../errors.js';
import { CREDENTIAL_ERROR_HELP } from './credential-errors.js';
import type { ErrorHelp } from './error-help.js';
import { PAYMENT_ERROR_HELP } from './payment-errors.js';
import { REQUEST_ERROR_HELP } from './request-errors.js';

/** A page for each error code. The type makes a missing page a compile error. */
export const ERROR_HELP: Readonly<Record<ErrorCode, ErrorHelp>> = {
  ...PAYMENT_ERROR_HELP,
  ...REQUEST_ERROR_HELP,
  ...CREDENTIAL_ERROR_HELP,
};

/**
 * URL of the page that explains an error; the `type` of a problem (RFC 9457, C5).
 *
 * @param pagesUrl base URL of all error pages, without a slash at the end. `ERROR_PAGES_PATH` if the platform's public
 *   URL is not configured: the result is then relative to the URL of the request.
 */
export function errorPageUrl(pagesUrl: string, code: ErrorCode): string {
  return `${pagesUrl}/${code}`;
}
