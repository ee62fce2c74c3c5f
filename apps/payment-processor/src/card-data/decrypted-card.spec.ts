import { DomainError, type FieldProblem } from '@svc/kernel';
import { checkCard, checkDecryptedCard, isLuhnValid } from './decrypted-card.js';

const NOW = new Date('2026-03-01T10:00:00.000Z');
const CARD = {
  cardNumber: '4242424242424242',
  cvv: '123',
  holderName: 'T Payer',
  expiryMonth: 12,
  expiryYear: 2030,
};
const BINDING = { sessionId: 's-1', paymentNumber: 2, expiresAt: '2026-03-01T10:00:00.001Z' };
const EXPECTED = { sessionId: 's-1', paymentNumber: 2 };

const catchDomainError = (check: () => unknown): DomainError => {
  try {
    check();
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
  throw new Error('No error was thrown.');
};
const findProblems = (change: object, options?: Parameters<typeof checkCard>[2]): readonly FieldProblem[] =>
  catchDomainError(() => checkCard({ ...CARD, ...change }, NOW, options)).fields;

describe('a decrypted card', () => {
  it('is returned without unknown fields if its session and payment are as expected', () => {
    expect(checkDecryptedCard({ card: { ...CARD, unknownField: 1 }, binding: BINDING }, EXPECTED, NOW)).toStrictEqual(
      CARD,
    );
  });

  it.each<[string, unknown]>([
    ['another session', { card: CARD, binding: { ...BINDING, sessionId: 's-2' } }],
    ['another payment', { card: CARD, binding: { ...BINDING, paymentNumber: 3 } }],
    ['an invalid expiry', { card: CARD, binding: { ...BINDING, expiresAt: 'later' } }],
    ['an expiry in milliseconds', { card: CARD, binding: { ...BINDING, expiresAt: 4_000_000_000_000 } }],
    ['the number of a year as its expiry', { card: CARD, binding: { ...BINDING, expiresAt: 2030 } }],
    ['no binding', { card: CARD }],
    ['a binding that is null', { card: CARD, binding: null }],
    ['only a text as its content', 'text'],
  ])('is rejected if it has %s', (_, decrypted) => {
    const error = catchDomainError(() => checkDecryptedCard(decrypted, EXPECTED, NOW));
    expect(error.message).toBe('The card was encrypted for another page. Reload the page and try again.');
    expect(error.code).toBe('request.invalid');
  });

  it.each([
    ['2026-03-01T10:00:00.000Z', '0 s'],
    ['2026-03-01T09:59:00.000Z', '60 s'],
    ['1970-01-01T00:00:00.000Z', '1772359200 s'],
  ])('is rejected if it expired at %s, with an error that names the clock', (expiresAt, age) => {
    const check = () => checkDecryptedCard({ card: CARD, binding: { ...BINDING, expiresAt } }, EXPECTED, NOW);
    expect(catchDomainError(check).message).toBe(
      `The encrypted card expired ${age} ago. Reload the page and try again. If a program encrypted the card, its clock may be wrong: it must use the platform's time, the header Date.`,
    );
  });

  it('is rejected if its card is not an object', () => {
    for (const card of [undefined, null, 'text'])
      expect(catchDomainError(() => checkDecryptedCard({ card, binding: BINDING }, EXPECTED, NOW)).fields).toHaveLength(
        4,
      );
  });

  it('is returned without its CVV if the CVV is not needed', () => {
    const { cvv: _, ...cardWithoutCvv } = CARD;
    expect(checkDecryptedCard({ card: CARD, binding: BINDING }, EXPECTED, NOW, false)).toStrictEqual(cardWithoutCvv);
  });
});

describe('a card', () => {
  const numberProblem = { field: 'cardNumber', message: 'The card number is not valid.' };
  const expiryProblem = { field: 'expiryDate', message: 'The expiry date is not valid or has passed.' };

  it.each([
    [{ cardNumber: '4242424242424241' }, numberProblem],
    [{ cardNumber: '42424242426' }, numberProblem],
    [{ cardNumber: '42424242424242424242' }, numberProblem],
    [{ cardNumber: '4242 4242 4242 4242' }, numberProblem],
    [{ cardNumber: 'x4242424242424242' }, numberProblem],
    [{ cardNumber: '4242424242424242x' }, numberProblem],
    [{ cardNumber: ['4242424242424242'] }, numberProblem],
    [{ cardNumber: 4242424242424242 }, numberProblem],
    [{ cardNumber: undefined }, numberProblem],
    [{ cvv: '12' }, { field: 'cvv', message: 'The CVV has 3 or 4 digits.' }],
    [{ cvv: '12345' }, { field: 'cvv', message: 'The CVV has 3 or 4 digits.' }],
    [{ cvv: 'x123' }, { field: 'cvv', message: 'The CVV has 3 or 4 digits.' }],
    [{ cvv: 123 }, { field: 'cvv', message: 'The CVV has 3 or 4 digits.' }],
    [{ holderName: ' ' }, { field: 'holderName', message: 'The name on the card is missing.' }],
    [{ holderName: 'x'.repeat(101) }, { field: 'holderName', message: 'The name on the card is missing.' }],
    [{ expiryMonth: 0 }, expiryProblem],
    [{ expiryMonth: 13 }, expiryProblem],
    [{ expiryMonth: 1.5 }, expiryProblem],
    [{ expiryMonth: '12' }, expiryProblem],
    [{ expiryYear: '2030' }, expiryProblem],
    [{ expiryYear: 1999 }, expiryProblem],
    [{ expiryYear: 30 }, expiryProblem],
    [{ expiryYear: 2057 }, expiryProblem],
    [{ expiryMonth: 1, expiryYear: 2026 }, expiryProblem],
  ])('is rejected if it has %j, with the problem %j', (change, problem) => {
    expect(findProblems(change)).toEqual([problem]);
  });

  it.each([
    { cardNumber: '4000000000006' },
    { cardNumber: '6304000000000000000' },
    { cvv: '1234' },
    { holderName: 'x'.repeat(100) },
    { expiryMonth: 1 },
    { expiryYear: 2056 },
    { expiryMonth: 3, expiryYear: 2026 },
  ])('is valid if it has %j', (change) => {
    expect(checkCard({ ...CARD, ...change }, NOW)).toStrictEqual({ ...CARD, ...change });
  });

  it('has a name whose control characters become spaces', () => {
    expect(checkCard({ ...CARD, holderName: 'T\tPayer' }, NOW)).toStrictEqual(CARD);
    expect(findProblems({ holderName: '\t' })).toEqual([
      { field: 'holderName', message: 'The name on the card is missing.' },
    ]);
  });

  it('is valid until one day after the end of its month, for all time zones', () => {
    const checkAt = (time: string) => () => checkCard({ ...CARD, expiryMonth: 2, expiryYear: 2026 }, new Date(time));
    expect(checkAt('2026-03-01T23:59:59.999Z')).not.toThrow();
    expect(checkAt('2026-03-02T00:00:00.000Z')).toThrow(DomainError);
  });

  it('needs no CVV if it is only stored, and is then returned without its CVV', () => {
    const { cvv: _, ...cardWithoutCvv } = CARD;
    expect(checkCard(cardWithoutCvv, NOW, { needsCvv: false })).toStrictEqual(cardWithoutCvv);
    expect(checkCard(CARD, NOW, { needsCvv: false })).toStrictEqual(cardWithoutCvv);
    expect(catchDomainError(() => checkCard(cardWithoutCvv, NOW)).fields).toHaveLength(1);
  });

  it('has problems with field names that start with the path of its parent', () => {
    const fields = findProblems({ cardNumber: '', expiryMonth: 0 }, { parent: 'paymentMethod.card.' });
    expect(fields.map(({ field }) => field)).toEqual([
      'paymentMethod.card.cardNumber',
      'paymentMethod.card.expiryDate',
    ]);
  });
});

test.each([
  ['79927398713', true],
  ['79927398710', false],
  ['4242424242424242', true],
  ['2424242424242424', false],
  ['378282246310005', true],
  ['59', true],
  ['50', false],
])('isLuhnValid(%s) returns %s', (digits, isValid) => expect(isLuhnValid(digits)).toBe(isValid));
