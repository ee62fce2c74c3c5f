import { ERROR_CATALOGUE, type ErrorCode } from '../errors.js';
import { ERROR_HELP, errorPageUrl } from './catalogue.js';

const CODES = Object.keys(ERROR_CATALOGUE) as ErrorCode[];
const SENTENCE = /^[A-Z"`][^]*[.]$/;

test('every error code has a page, and every page has an error code', () => {
  expect(Object.keys(ERROR_HELP).toSorted()).toEqual(CODES.toSorted());
});

test.each(CODES)('the page of %s explains the error in short whole sentences', (code) => {
  const { meaning, steps, repeat, where } = ERROR_HELP[code];
  const texts = [meaning, repeat, where, ...steps.flat()];
  for (const text of texts) {
    expect(text).toMatch(SENTENCE);
    expect(text.length).toBeLessThanOrEqual(220);
  }
  expect(steps.length).toBeGreaterThan(0);
});

test.each(CODES)(
  'on the page of %s, the advice about repeating the request agrees with `retryable` in the catalogue',
  (code) => {
    expect(ERROR_HELP[code].repeat).toMatch(ERROR_CATALOGUE[code].retryable ? /^(Yes|Perhaps)/ : /^(No|Only)/);
  },
);

test('errorPageUrl appends the error code to the base URL of the pages', () => {
  expect(errorPageUrl('https://api.example/errors', 'payable.paid')).toBe('https://api.example/errors/payable.paid');
});
