import { describeResponseHint } from './response-hint.js';

const URL_SENT = new URL('http://shop.example/hooks?shop=1');
const hint = (statusCode: number, { location, text = '' }: { location?: string; text?: string } = {}) =>
  describeResponseHint({ statusCode, location, text, url: URL_SENT });

const PAGE_HINT =
  'The endpoint responded with an HTML page. The notification counts as delivered, but a page of the shop, a login or a maintenance page may have received it. Check the address.';

test.each(['<!doctype html><p>', '\ufeff \n<!DOCTYPE HTML PUBLIC "x">', '<html lang="en">', '\t<HTML>'])(
  'a 2xx with the HTML page %j gets a hint',
  (text) => {
    for (const statusCode of [200, 202, 299]) expect(hint(statusCode, { text })).toBe(PAGE_HINT);
  },
);

test.each([
  [200, ''],
  [200, 'OK'],
  [200, '{"page":"<html>"}'],
  [200, '<htmlx>'],
  [200, '<response><ok/></response>'],
  [404, '<html>'],
  [500, '<!doctype html>'],
])('a %d with the body %j gets no hint', (statusCode, text) => expect(hint(statusCode, { text })).toBeUndefined());

test.each([
  ['https://shop.example/hooks', 'https://shop.example/hooks'],
  ['/en/hooks', 'http://shop.example/en/hooks'],
  ['//www.shop.example/hooks', 'http://www.shop.example/hooks'],
])('a redirect to %s names the final address %s', (location, finalUrl) => {
  for (const statusCode of [301, 302, 303, 307, 308])
    expect(hint(statusCode, { location, text: '<html>' })).toBe(
      `Redirects are not followed. Change the address to: ${finalUrl}`,
    );
});

test.each([
  undefined,
  'https://',
  'javascript:alert(1)',
  'https://user:password@shop.example/',
  'https://user@shop.example/',
  `https://shop.example/${'x'.repeat(2_028)}`,
])('a redirect with the Location %j names no address', (location) => {
  expect(hint(301, location === undefined ? {} : { location })).toBe(
    'Redirects are not followed: use the final address of the endpoint.',
  );
});

test('an address of 2048 characters is named, so a hint has at most 2100 characters', () => {
  const location = `https://shop.example/${'x'.repeat(2_027)}`;
  expect(location).toHaveLength(2_048);
  expect(hint(302, { location })?.length).toBeLessThanOrEqual(2_100);
});

test.each([300, 304, 305, 400])('a %d is no redirect to a final address', (statusCode) => {
  expect(hint(statusCode, { location: 'https://shop.example/' })).toBeUndefined();
});
