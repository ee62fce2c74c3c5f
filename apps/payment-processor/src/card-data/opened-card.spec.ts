import { DomainError, type FieldProblem } from '@svc/kernel';
import { checkCard, checkOpenedCard, isLuhnValid } from './opened-card.js';

const NOW = new Date('2026-03-01T10:00:00.000Z');
const CARD = {
  cardNumber: '4242424242424242',
  cvv: '123',
  holderName: 'T Payer',
  expiryMonth: 12,
  expiryYear: 2030,
};
const BINDING = { sessionId: 's-1', try: 2, expiresAt: '2026-03-01T10:00:00.001Z' };
const EXPECTED = { sessionId: 's-1', try: 2 };

const refusalOf = (check: () => unknown): DomainError => {
  try {
    check();
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
  throw new Error('Nothing was refused.');
};
const problemsOf = (change: object, options?: Parameters<typeof checkCard>[2]): readonly FieldProblem[] =>
  refusalOf(() => checkCard({ ...CARD, ...change }, NOW, options)).fields;

describe('an opened card', () => {
  it('has exactly the fields of the card that was encrypted for this session and try', () => {
    expect(checkOpenedCard({ card: { ...CARD, more: 1 }, binding: BINDING }, EXPECTED, NOW)).toStrictEqual(CARD);
  });

  it.each<[string, unknown]>([
    ['another session', { card: CARD, binding: { ...BINDING, sessionId: 's-2' } }],
    ['another try', { card: CARD, binding: { ...BINDING, try: 3 } }],
    ['a time that has passed', { card: CARD, binding: { ...BINDING, expiresAt: NOW.toISOString() } }],
    ['an invalid time', { card: CARD, binding: { ...BINDING, expiresAt: 'later' } }],
    ['a time in milliseconds', { card: CARD, binding: { ...BINDING, expiresAt: 4_000_000_000_000 } }],
    ['nothing', { card: CARD }],
    ['null', { card: CARD, binding: null }],
    ['a text', 'text'],
  ])('is rejected when it was encrypted for %s', (_, opened) => {
    const refusal = refusalOf(() => checkOpenedCard(opened, EXPECTED, NOW));
    expect(refusal.message).toBe('The card was encrypted for another page. Reload the page and try again.');
    expect(refusal.code).toBe('request.invalid');
  });

  it('is rejected if it is not a valid card', () => {
    for (const card of [undefined, null, 'text'])
      expect(refusalOf(() => checkOpenedCard({ card, binding: BINDING }, EXPECTED, NOW)).fields).toHaveLength(4);
    const { cvv: _, ...stored } = CARD;
    expect(checkOpenedCard({ card: CARD, binding: BINDING }, EXPECTED, NOW, false)).toStrictEqual(stored);
  });
});

describe('a card', () => {
  const number = { field: 'cardNumber', message: 'The card number is not valid.' };
  const expiry = { field: 'expiryDate', message: 'The expiry date is not valid or has passed.' };

  it.each([
    [{ cardNumber: '4242424242424241' }, number],
    [{ cardNumber: '42424242426' }, number],
    [{ cardNumber: '42424242424242424242' }, number],
    [{ cardNumber: '4242 4242 4242 4242' }, number],
    [{ cardNumber: 'x4242424242424242' }, number],
    [{ cardNumber: '4242424242424242x' }, number],
    [{ cardNumber: ['4242424242424242'] }, number],
    [{ cardNumber: undefined }, number],
    [{ cvv: '12' }, { field: 'cvv', message: 'The CVV has 3 or 4 digits.' }],
    [{ cvv: '12345' }, { field: 'cvv', message: 'The CVV has 3 or 4 digits.' }],
    [{ cvv: 'x123' }, { field: 'cvv', message: 'The CVV has 3 or 4 digits.' }],
    [{ cvv: 123 }, { field: 'cvv', message: 'The CVV has 3 or 4 digits.' }],
    [{ holderName: ' ' }, { field: 'holderName', message: 'The name on the card is missing.' }],
    [{ holderName: 'x'.repeat(101) }, { field: 'holderName', message: 'The name on the card is missing.' }],
    [{ expiryMonth: 0 }, expiry],
    [{ expiryMonth: 13 }, expiry],
    [{ expiryMonth: 1.5 }, expiry],
    [{ expiryMonth: '12' }, expiry],
    [{ expiryYear: '2030' }, expiry],
    [{ expiryYear: 1999 }, expiry],
    [{ expiryYear: 30 }, expiry],
    [{ expiryYear: 2057 }, expiry],
    [{ expiryMonth: 1, expiryYear: 2026 }, expiry],
  ])('with %j is rejected, and the problem contains no value', (change, problem) => {
    expect(problemsOf(change)).toEqual([problem]);
  });

  it.each([
    { cardNumber: '4000000000006' },
    { cardNumber: '6304000000000000000' },
    { cvv: '1234' },
    { holderName: 'x'.repeat(100) },
    { expiryMonth: 1 },
    { expiryYear: 2056 },
    { expiryMonth: 3, expiryYear: 2026 },
  ])('with %j is valid', (change) => {
    expect(checkCard({ ...CARD, ...change }, NOW)).toStrictEqual({ ...CARD, ...change });
  });

  it('is valid to the end of its month, plus a day for time zones', () => {
    const at = (time: string) => () => checkCard({ ...CARD, expiryMonth: 2, expiryYear: 2026 }, new Date(time));
    expect(at('2026-03-01T23:59:59.999Z')).not.toThrow();
    expect(at('2026-03-02T00:00:00.000Z')).toThrow(DomainError);
  });

  it('needs no CVV to be stored, and drops a CVV', () => {
    const { cvv: _, ...stored } = CARD;
    expect(checkCard(stored, NOW, { needsCvv: false })).toStrictEqual(stored);
    expect(checkCard(CARD, NOW, { needsCvv: false })).toStrictEqual(stored);
    expect(refusalOf(() => checkCard(stored, NOW)).fields).toHaveLength(1);
  });

  it('prefixes its field names with the path of its parent', () => {
    const fields = problemsOf({ cardNumber: '', expiryMonth: 0 }, { parent: 'paymentMethod.card.' });
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
])('the check digit of %s is valid: %s', (digits, isValid) => expect(isLuhnValid(digits)).toBe(isValid));
