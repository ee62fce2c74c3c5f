import { ERROR_CATALOGUE, type ErrorCode, type ErrorEntry, paymentError } from './errors.js';

/**
 * Row P4 of the specification. Payers quote these references to support, so the reference of an error must never
 * change.
 */
const ROW_P4: readonly (readonly [string, RegExp])[] = [
  ['10', /declined by the bank/],
  ['11', /insufficient funds/],
  ['12', /card has expired/],
  ['13', /card number is not valid/],
  ['14', /CVV is not correct/],
  ['15', /security reasons/],
  ['16', /verification .* failed/],
  ['17', /verification .* not completed/],
  ['18', /over a limit|cannot be used here at the moment/],
  ['20', /no longer be paid|already been paid/],
  ['21', /nothing to pay/],
  ['22', /amount or currency/],
  ['23', /payment is already in progress/],
  ['30', /bank could not be reached/],
  ['31', /outcome .* not known/],
  ['40', /./],
  ['50', /./],
];
/** Clients depend on these values, so changing a row is a breaking change. */
const CATALOGUE: readonly [code: ErrorCode, errorReference: string, httpStatus: number, retryable: boolean][] = [
  ['card.declined', '10', 402, false],
  ['card.insufficient-funds', '11', 402, false],
  ['card.expired', '12', 402, false],
  ['card.invalid', '13', 402, false],
  ['card.incorrect-cvv', '14', 402, false],
  ['card.suspected-fraud', '15', 402, false],
  ['verification.failed', '16', 402, false],
  ['verification.abandoned', '17', 402, false],
  ['card.limit-exceeded', '18', 402, false],
  ['card.too-many-attempts', '18', 422, false],
  ['challenge.required', '40', 428, false],
  ['payable.closed', '20', 409, false],
  ['payable.paid', '20', 409, false],
  ['payable.expired', '20', 410, false],
  ['payable.refused', '20', 409, false],
  ['payable.not-found', '21', 404, false],
  ['payable.mismatch', '22', 422, false],
  ['payment.in-progress', '23', 409, true],
  ['refund.amount-exceeded', '40', 422, false],
  ['refund.not-possible', '40', 422, false],
  ['refund.in-progress', '40', 409, true],
  ['payment.not-accepted', '40', 422, false],
  ['external.failed', '10', 402, false],
  ['code.unsupported', '40', 422, false],
  ['code.third-party', '40', 422, false],
  ['code-provider.unavailable', '50', 503, true],
  ['acquirer.unavailable', '30', 503, true],
  ['acquirer.outcome-unknown', '31', 503, false],
  ['live-mode.unavailable', '40', 403, false],
  ['webhook.no-signing-key', '40', 422, false],
  ['look.logo-unusable', '40', 422, false],
  ['card-key.not-in-use', '40', 400, false],
  ['request.invalid', '40', 400, false],
  ['request.too-large', '40', 413, false],
  ['request.unsupported-media-type', '40', 415, false],
  ['request.method-not-allowed', '40', 405, false],
  ['request.not-acceptable', '40', 406, false],
  ['request.rate-limited', '40', 429, true],
  ['event-id.expired', '40', 410, false],
  ['request.idempotency-conflict', '40', 409, false],
  ['credentials.invalid', '40', 401, false],
  ['credentials.key-missing', '40', 401, false],
  ['credentials.key-malformed', '40', 401, false],
  ['credentials.partner-key-needed', '40', 401, false],
  ['credentials.merchant-key-needed', '40', 401, false],
  ['credentials.token-missing', '40', 401, false],
  ['credentials.token-malformed', '40', 401, false],
  ['credentials.token-expired', '40', 401, false],
  ['credentials.forbidden', '40', 403, false],
  ['credentials.shared-key-ended', '40', 403, false],
  ['authentication.failed', '40', 401, false],
  ['authentication.required', '40', 401, false],
  ['resource.not-found', '40', 404, false],
  ['resource.conflict', '40', 409, false],
  ['service.not-ready', '50', 503, true],
  ['service.broken-off', '50', 502, false],
  ['service.timed-out', '50', 504, false],
  ['internal', '50', 500, true],
];
const entries: readonly ErrorEntry[] = Object.values(ERROR_CATALOGUE);

test.each(ROW_P4)('errorReference %s has the message of row P4', (errorReference, message) => {
  const found = entries.filter((entry) => entry.errorReference === errorReference);
  expect(found.length).toBeGreaterThan(0);
  for (const entry of found) expect(entry.message).toMatch(message);
});

test('the catalogue has no errorReference that is not in row P4', () => {
  const known = ROW_P4.map(([errorReference]) => errorReference);
  expect(entries.filter(({ errorReference }) => !known.includes(errorReference))).toEqual([]);
});

test.each(CATALOGUE)('%s has the reference %s, the status %d, and is retryable: %s', (code, ...expected) => {
  const { errorReference, httpStatus, retryable } = ERROR_CATALOGUE[code];
  expect([errorReference, httpStatus, retryable]).toEqual(expected);
});

test('every error code has a row in the table of this test', () => {
  expect(CATALOGUE.map(([code]) => code)).toEqual(Object.keys(ERROR_CATALOGUE));
});

test('every error has a 4xx or 5xx status', () => {
  for (const { httpStatus } of entries) {
    expect(httpStatus).toBeGreaterThanOrEqual(400);
    expect(httpStatus).toBeLessThan(600);
  }
});

test('every error with status 500 has the errorReference 50', () => {
  const internalErrors = entries.filter(({ httpStatus }) => httpStatus === 500);
  expect(new Set(internalErrors.map(({ errorReference }) => errorReference))).toEqual(new Set(['50']));
});

test('paymentError returns only the reference and the message of an error', () => {
  expect(paymentError('card.declined')).toEqual({
    errorReference: '10',
    message: 'The card was declined by the bank.',
  });
});
