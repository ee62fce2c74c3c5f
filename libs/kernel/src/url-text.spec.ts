import fc from 'fast-check';
import { buildRequestTarget, encodeUrlForHeader, hasUnambiguousHost, setQueryParameters } from './url-text.js';

const OURS = { sessionId: '0b6c', merchantOrderId: 'order 17&é' };
const ADDED = 'sessionId=0b6c&merchantOrderId=order%2017%26%C3%A9';

describe('setQueryParameters', () => {
  test.each([
    ['https://shop.example', `https://shop.example?${ADDED}`],
    ['https://shop.example/return?', `https://shop.example/return?${ADDED}`],
    ['https://shop.example/r?name=Caf%E9&x=a%20b~c&flag', `https://shop.example/r?name=Caf%E9&x=a%20b~c&flag&${ADDED}`],
    ['HTTPS://Shop.example:443/a/../b?x=1&&', `HTTPS://Shop.example:443/a/../b?x=1&&${ADDED}`],
    ["https://shop.example/{id}?q='a'|[b]#/top?x=1#2", `https://shop.example/{id}?q='a'|[b]&${ADDED}#/top?x=1#2`],
    ['https://shop.example/r?sessionId=1&a=2&session%49d=3&sessionId', `https://shop.example/r?a=2&${ADDED}`],
    ['https://shop.example/r?sessionid=1&?sessionId=2', `https://shop.example/r?sessionid=1&?sessionId=2&${ADDED}`],
    ['https://shop.example/r??sessionId=2', `https://shop.example/r??sessionId=2&${ADDED}`],
    [' https://bücher.example/é?ü=1 2#ø\n', `https://xn--bcher-kva.example/%C3%A9?%C3%BC=1%202&${ADDED}#%C3%B8`],
  ])('appends the parameters to %j', (address, expected) => {
    expect(setQueryParameters(address, OURS)).toBe(expected);
  });

  test('changes nothing else in any URL, and the URL parser finds the parameters', () => {
    fc.assert(
      fc.property(urls(), values(), (address, value) => {
        const result = setQueryParameters(address, { sessionId: value });
        const { origin, pathname, hash, searchParams } = new URL(result);
        const original = new URL(address);
        expect(result).toMatch(/^[\x21-\x7e]+$/);
        expect([origin, pathname, hash]).toEqual([original.origin, original.pathname, original.hash]);
        expect(searchParams.getAll('sessionId')).toEqual([value.toWellFormed()]);
        const others = (entries: URLSearchParams): string[][] => [...entries].filter(([name]) => name !== 'sessionId');
        expect(others(searchParams)).toEqual(others(original.searchParams));
        // The text of a URL that a header can contain stays, except for a parameter of the same name.
        const isKept = /^[\x21-\x7e]+$/.test(address) && !original.searchParams.has('sessionId');
        const [beforeFragment = ''] = isKept ? address.split('#', 1) : [];
        expect(result.startsWith(beforeFragment)).toBe(true);
        expect(result.endsWith(isKept ? address.slice(beforeFragment.length) : '')).toBe(true);
      }),
    );
  });
});

test('encodeUrlForHeader does not change a URL of visible ASCII, and gives every other URL the same meaning', () => {
  fc.assert(
    fc.property(urls(), (address) => {
      const encoded = encodeUrlForHeader(address);
      expect(encoded).toMatch(/^[\x21-\x7e]+$/);
      expect(new URL(encoded).href).toBe(new URL(address).href);
      expect(!/^[\x21-\x7e]+$/.test(address) || encoded === address).toBe(true);
    }),
  );
});

test('encodeUrlForHeader uses the URL parser for a URL without an authority', () => {
  expect(encodeUrlForHeader('https:shop.example/é')).toBe('https://shop.example/%C3%A9');
});

test.each([
  ['https://shop.example', '/'],
  ['https://shop.example?x=1#top', '/?x=1'],
  ['https://shop.example/a/../b~%7e?name=Caf%E9&x=a%20b~c&flag#x?y', '/a/../b~%7e?name=Caf%E9&x=a%20b~c&flag'],
  ["https://shop.example/{id}?q='<a>'&é=1 2", "/{id}?q='<a>'&%C3%A9=1%202"],
])('buildRequestTarget of %s is %s', (address, target) => {
  expect(buildRequestTarget(address)).toBe(target);
});

test.each([
  ['https://shop.example/?path=C:\\x#\\', true],
  [' https://shop.example:8443/@user', true],
  ['https://shop.example\\@evil.example/', false],
  ['https://shop.example/a\\b', false],
  ['https:\\\\shop.example/', false],
  ['https:shop.example/', false],
  ['https:///shop.example/', false],
  ['https://@shop.example/', false],
])('all programs read the same host in %s: %s', (address, expected) => {
  expect(hasUnambiguousHost(address)).toBe(expected);
});

/** URLs that the URL parser accepts, with an unambiguous host. */
function urls(): fc.Arbitrary<string> {
  const piece = fc.oneof(
    fc.constantFrom('sessionId', 'session%49d', 'sessionId=1', '=', '&', '+', '%', '%E9', '%20', '~', "'", '|', '"'),
    fc.constantFrom('?', '/', '..', ' ', '\t', '\n', 'é', '😀', '\ud800', '\0', '\u00a0', '{', '[', '<', '^', '`', ';'),
    fc.string({ minLength: 1, maxLength: 5, unit: 'grapheme' }),
  );
  const text = (without: RegExp): fc.Arbitrary<string> =>
    fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join('').replaceAll(without, ''));
  const optional = (prefix: string, part: fc.Arbitrary<string>): fc.Arbitrary<string> =>
    fc.option(part, { nil: undefined }).map((value) => (value === undefined ? '' : `${prefix}${value}`));
  return fc
    .tuple(
      fc.constantFrom('https://shop.example', 'HTTPS://Shop.example:8443', 'http://127.1', 'https://bücher.example'),
      optional('/', text(/[?#\\]/g)),
      optional('?', text(/#/g)),
      optional('#', text(/$^/g)),
    )
    .map((parts) => parts.join(''));
}

function values(): fc.Arbitrary<string> {
  return fc.string({ unit: 'binary', maxLength: 20 });
}
