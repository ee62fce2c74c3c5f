import { acceptsGzip } from './accepts-gzip.js';

it.each([
  ['gzip', true],
  ['gzip, deflate, br, zstd', true],
  ['br;q=1.0, gzip;q=0.8, *;q=0.1', true],
  ['x-gzip', true],
  ['GZIP ; q=1', true],
  ['deflate,gzip;q=0.001', true],
  ['gzip;q=0', false],
  ['gzip; q=0', false],
  ['gzip;q=0.5', true],
  ['gzip;q=0.0', false],
  ['gzip;q=0.05', true],
  ['gzip;q=0.10', true],
  ['gzip; q=1.000 ', true],
  ['  gzip  ;  q=0.8', true],
  ['br, gzip', true],
  ['gzip-9', false],
  ['gzip;level=9', false],
  ['br', false],
  ['*', false],
  ['identity', false],
  ['notgzip', false],
  ['', false],
  [undefined, false],
])('acceptsGzip of the header "Accept-Encoding: %s" is %p', (header, isAccepted) =>
  expect(acceptsGzip(header)).toBe(isAccepted),
);
