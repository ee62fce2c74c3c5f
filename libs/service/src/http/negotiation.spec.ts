import type { FastifyRequest } from 'fastify';
import { acceptsGzip, negotiateMediaType, prefersToJson, readLanguageRanges } from './negotiation.js';

const MEDIA_TYPES = ['application/json', 'text/plain', 'text/csv', 'image/svg+xml'] as const;
const negotiate = (accept?: string): string =>
  negotiateMediaType({ headers: accept === undefined ? {} : { accept } } as FastifyRequest, MEDIA_TYPES);

describe('negotiateMediaType', () => {
  it.each([
    [undefined, 'application/json'],
    ['', 'application/json'],
    [' , ', 'application/json'],
    ['*/*', 'application/json'],
    ['application/json; charset=utf-8', 'application/json'],
    ['APPLICATION/JSON;CHARSET=UTF-8', 'application/json'],
    ['application/json;charset=iso-8859-1', 'application/json'],
    ['application/json;profile="https://x.example/a,b;q=0;\\",c"', 'application/json'],
    ['application/json; charset=utf-8; q=0.5, text/plain', 'text/plain'],
    ['application/json ; q=0.5 ; charset=utf-8 , text/plain ; q=0.9', 'text/plain'],
    ['text/csv; charset=utf-8; header=present', 'text/csv'],
    ['text/plain; charset=utf-8', 'text/plain'],
    ['text/plain;format=flowed;q=0.5, image/svg+xml;charset=utf-8;q=0.6', 'image/svg+xml'],
    ['text/html, */*;q=0.1', 'application/json'],
    ['text/*', 'text/plain'],
    ['text/*;q=0.3, text/csv;q=0.7, */*;q=0.5', 'text/csv'],
    ['*/*, application/json;q=0', 'text/plain'],
    ['application/json;q=0.000, image/*', 'image/svg+xml'],
    ['text/html, application/problem+json', 'application/json'],
    ['application/problem+json; charset=utf-8', 'application/json'],
    ['application/problem+json, text/csv', 'text/csv'],
    // Node.js joins several headers `Accept` in this way.
    ['image/png, text/csv', 'text/csv'],
  ])('for the header "Accept: %s" returns %s', (accept, mediaType) => {
    expect(negotiate(accept)).toBe(mediaType);
  });

  it.each([
    'image/png',
    'application/json;q=0',
    'application/json;charset=utf-8;q=0',
    'application/problem+json;q=0',
    'image/svg',
    'json',
  ])('for the header "Accept: %s" throws request.not-acceptable', (accept) => {
    expect(() => negotiate(accept)).toThrow(
      expect.objectContaining({
        code: 'request.not-acceptable',
        message: 'Accept one of application/json, text/plain, text/csv, image/svg+xml.',
      }),
    );
  });

  it('needs linear time', () => {
    const startedAt = performance.now();
    for (const text of ['; q', ';"', ';a="\\', '="', ';  '])
      expect(() => negotiate(`image/png${text.repeat(8_000)}`)).toThrow('Accept one of');
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });
});

it.each([
  ['text/html', true],
  ['text/html;charset=utf-8', true],
  ['Text/HTML', true],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8', true],
  ['application/json, text/html', false],
  ['application/json;q=0.5, text/html', true],
  ['text/html;q=0, */*', false],
  ['text/htmlx', false],
  ['application/json, text/plain, */*', false],
  ['*/*', false],
  ['', false],
  [undefined, false],
])('a client with the header "Accept: %s" prefers HTML to JSON: %s', (accept, isPreferred) => {
  expect(prefersToJson('text/html', accept)).toBe(isPreferred);
});

it.each([
  ['gzip', true],
  ['gzip, deflate, br, zstd', true],
  ['br;q=1.0, gzip;q=0.8, *;q=0.1', true],
  ['x-gzip', true],
  ['GZIP ; q=1', true],
  ['deflate,gzip;q=0.001', true],
  ['gzip;q=0, br', false],
  ['gzip; q=0', false],
  ['gzip;q=0.0', false],
  ['gzip;q=0.05', true],
  ['  gzip  ;  q=0.8', true],
  ['br, gzip', true],
  ['*', true],
  ['*;q=0', false],
  ['gzip-9', false],
  ['br', false],
  ['identity', false],
  ['notgzip', false],
  ['', false],
  [undefined, false],
])('acceptsGzip of the header "Accept-Encoding: %s" is %p', (header, isAccepted) =>
  expect(acceptsGzip(header)).toBe(isAccepted),
);

it('readLanguageRanges sorts by weight, and leaves out languages that are not accepted', () => {
  expect(readLanguageRanges('en;q=0.5, zu-ZA, *;q=0.1, af;q=0, xh;q=0.9')).toEqual(['zu-ZA', 'xh', 'en', '*']);
  expect(readLanguageRanges('')).toEqual([]);
});
