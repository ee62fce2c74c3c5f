import { ERROR_CATALOGUE, type ErrorCode } from '../errors.js';
import { ERROR_HELP, errorPageOf } from './catalogue.js';

const CODES = Object.keys(ERROR_CATALOGUE) as ErrorCode[];
const SENTENCE = /^[A-Z"`][^]*[.]$/;

test('every error code has a page, and every page has an error code', () => {
  expect(Object.keys(ERROR_HELP).toSorted()).toEqual(CODES.toSorted());
});

test.each(CODES)('%s is explained in short whole sentences', (code) => {
  const { meaning, steps, repeat, where } = ERROR_HELP[code];
  const texts = [meaning, repeat, where, ...steps.flat()];
  for (const text of texts) {
    expect(text).toMatch(SENTENCE);
    expect(text.length).toBeLessThanOrEqual(220);
  }
  expect(steps.length).toBeGreaterThan(0);
});

test.each(CODES)('the page of %s says whether to repeat the request, as the catalogue does', (code) => {
  expect(ERROR_HELP[code].repeat).toMatch(ERROR_CATALOGUE[code].retryable ? /^(Yes|Perhaps)/ : /^(No|Only)/);
});

test('the address of each page begins with the address of all pages', () => {
  expect(errorPageOf('https://api.example/errors', 'payable.paid')).toBe('https://api.example/errors/payable.paid');
});
