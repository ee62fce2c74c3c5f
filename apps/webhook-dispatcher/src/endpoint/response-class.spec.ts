import { METRICS } from '@svc/contracts';
import { classOfResponse } from './response-class.js';

test.each([
  [{ statusCode: 204 }, '2xx'],
  [{ statusCode: 302 }, '3xx'],
  [{ statusCode: 404 }, '4xx'],
  [{ statusCode: 503, errorClass: 'timeout' }, '5xx'],
  [{ statusCode: 999 }, 'other'],
  [{ errorClass: 'timeout' }, 'timeout'],
  [{ errorClass: 'connect-timeout' }, 'timeout'],
  [{ errorClass: 'connection-reset' }, 'connection'],
  [{ errorClass: 'name-not-found' }, 'name'],
  [{ errorClass: 'tls' }, 'tls'],
  [{ errorClass: 'address-refused:private' }, 'refused'],
  [{ errorClass: 'SOME_CODE' }, 'other'],
  [{}, 'other'],
] as const)('the response %j is of the class %s', (response, expected) => {
  expect(classOfResponse(response)).toBe(expected);
  expect(METRICS['svc.webhook.attempts'].labels.response.values).toContain(expected);
});
