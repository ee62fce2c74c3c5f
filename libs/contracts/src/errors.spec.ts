import { ERROR_CATALOGUE, type ErrorEntry, paymentError } from './errors.js';

/** Row P4, word for word: what support is quoted. A code may be added beside them; none of these may change its number. */
const ROW_P4: readonly (readonly [string, RegExp])[] = [
  ['10', /declined by the bank/],
  ['11', /insufficient funds/],
  ['12', /card has expired/],
  ['13', /card number is not valid/],
  ['14', /CVV is not correct/],
  ['15', /security reasons/],
  ['16', /verification .* failed/],
  ['17', /verification .* not completed/],
  ['18', /over a limit/],
  ['20', /no longer be paid|already been paid/],
  ['21', /nothing to pay/],
  ['22', /amount or currency/],
  ['23', /payment is already in progress/],
  ['30', /bank could not be reached/],
  ['31', /outcome .* not known/],
  ['40', /./],
  ['50', /./],
];
const entries: readonly ErrorEntry[] = Object.values(ERROR_CATALOGUE);

test.each(ROW_P4)('errorReference %s says what row P4 says', (errorReference, message) => {
  const found = entries.filter((entry) => entry.errorReference === errorReference);
  expect(found.length).toBeGreaterThan(0);
  for (const entry of found) expect(entry.message).toMatch(message);
});

test('there is no errorReference that row P4 does not know', () => {
  const known = ROW_P4.map(([errorReference]) => errorReference);
  expect(entries.filter(({ errorReference }) => !known.includes(errorReference))).toEqual([]);
});

test('every error refuses with a 4xx or a 5xx', () => {
  for (const { httpStatus } of entries) {
    expect(httpStatus).toBeGreaterThanOrEqual(400);
    expect(httpStatus).toBeLessThan(600);
  }
});

test('those on our side are 50', () => {
  const ours = entries.filter(({ httpStatus }) => httpStatus === 500);
  expect(new Set(ours.map(({ errorReference }) => errorReference))).toEqual(new Set(['50']));
});

test('on a payment it is reference and message, nothing else', () => {
  expect(paymentError('card.declined')).toEqual({
    errorReference: '10',
    message: 'The card was declined by the bank.',
  });
});
