import { type ErrorBody, problemBody } from '@svc/service/standalone';
import { stop } from './answer.js';

/**
 * The facade is the API for tills that send whole baskets. Its errors are a STOP envelope with one message for each
 * invalid field (C5, T1). Other errors follow RFC 9457.
 */
export const transformerErrorBody: ErrorBody = (error, request, errorPage) => {
  const path = request.url.split('?', 1)[0] ?? '';
  if (!FACADE_PATHS.has(path.toLowerCase().replace(/\/+$/, ''))) return problemBody(error, request, errorPage);
  const fields = error.fields.map(({ message }) => message).join('; ');
  return { contentType: 'application/json', body: stop(fields === '' ? error.message : `${fields}.`) };
};

const FACADE_PATHS: ReadonlySet<string> = new Set(['/basket', '/basketclosed', '/getpayment', '/svcrefund']);
