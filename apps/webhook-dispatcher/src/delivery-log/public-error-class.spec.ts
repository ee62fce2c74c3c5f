import type { DeliveryAttempt } from '@svc/contracts';
import { withPublicErrorClass } from './public-error-class.js';

const publicClassOf = (errorClass: string | null): string | null =>
  withPublicErrorClass({ errorClass } as DeliveryAttempt).errorClass;

test.each([
  'address-refused:private',
  'address-refused:loopback',
  'address-refused:link-local',
  'address-refused:metadata',
  'address-refused:reserved',
  'name-not-found',
  'name-servers-failed',
])('the public error class of %s does not reveal whether the host exists', (errorClass) => {
  expect(publicClassOf(errorClass)).toBe('address-unavailable');
});

test.each([
  null,
  'timeout',
  'connection-refused',
  'tls',
  'address-refused:protocol',
  'address-refused:port',
  'address-refused:credentials',
  'address-refused:unreadable',
])('the public error class of %s is unchanged', (errorClass) => {
  expect(publicClassOf(errorClass)).toBe(errorClass);
});
