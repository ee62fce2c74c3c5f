import { CARD_FIELDS, caretAfterFormat, checkCardFields, readCard } from './card-fields.js';

const now = new Date('2026-11-20T18:03:36.123Z');
const good = { cardNumber: '4242 4242 4242 4242', expiry: '12 / 30', cvv: '123', holderName: ' Thandi Nkosi ' };

describe('checkCardFields', () => {
  it('finds nothing wrong with a good card, and reads it', () => {
    const read = {
      cardNumber: '4242424242424242',
      cvv: '123',
      holderName: 'Thandi Nkosi',
      expiryMonth: 12,
      expiryYear: 2030,
    };
    for (const typed of [good, { ...good, cvv: ' 123 ' }]) {
      expect(checkCardFields(typed, now)).toStrictEqual({});
      expect(readCard(typed, now)).toEqual(read);
    }
    expect(checkCardFields({ ...good, holderName: 'x'.repeat(100) }, now)).toStrictEqual({});
  });

  it('reads no card whose expiry is wrong', () => {
    expect(() => readCard({ ...good, expiry: '13 / 30' }, now)).toThrow('The fields were not checked');
  });

  it.each([
    [{ cardNumber: '' }, 'cardNumber', 'Enter the card number.'],
    [{ cardNumber: ' ' }, 'cardNumber', 'Enter the card number.'],
    [{ cardNumber: '4242 4242 4242 4241' }, 'cardNumber', 'This card number is not correct. Check the digits.'],
    [{ cardNumber: '4242 4242' }, 'cardNumber', 'This card number is not correct. Check the digits.'],
    [{ expiry: '12' }, 'expiry', 'Enter the expiry date as MM / YY.'],
    [{ expiry: '13 / 30' }, 'expiry', 'The month must be 01 to 12.'],
    [{ expiry: '10 / 26' }, 'expiry', 'This card has expired. Use another card.'],
    [{ expiry: '10 / 99' }, 'expiry', 'Check the year.'],
    [{ cvv: '' }, 'cvv', 'Enter the CVV.'],
    [{ cvv: ' ' }, 'cvv', 'Enter the CVV.'],
    [{ cvv: 'a12' }, 'cvv', 'The CVV of this card has 3 digits.'],
    [{ cvv: '12a' }, 'cvv', 'The CVV of this card has 3 digits.'],
    [{ cvv: '1234' }, 'cvv', 'The CVV of this card has 3 digits.'],
    [{ cardNumber: '3782 822463 10005' }, 'cvv', 'The CVV of this card has 4 digits.'],
    [{ holderName: '  ' }, 'holderName', 'Enter the name on the card.'],
    [{ holderName: 'x'.repeat(101) }, 'holderName', 'Use at most 100 characters.'],
  ])('%j is a problem of %s', (change, field, words) => {
    expect(checkCardFields({ ...good, ...change }, now)).toStrictEqual({ [field]: words });
  });

  it('names both lengths of a CVV whose card is not known', () => {
    expect(checkCardFields({ ...good, cardNumber: '', cvv: '12' }, now).cvv).toBe('The CVV has 3 or 4 digits.');
  });

  it('names every field of an empty form', () => {
    const empty = { cardNumber: '', expiry: '', cvv: '', holderName: '' };
    const inOrder = ['cardNumber', 'expiry', 'cvv', 'holderName'];
    expect([Object.keys(checkCardFields(empty, now)), CARD_FIELDS]).toEqual([inOrder, inOrder]);
  });
});

describe('caretAfterFormat', () => {
  it.each([
    // at the end stays at the end
    ['42424', 5, '4242 4', 6],
    ['5', 1, '05', 2],
    // in the middle stays behind the same digit
    ['4242 94242 4242', 6, '4242 9424 2424 2', 6],
    ['4242942424242', 4, '4242 9424 2424 2', 4],
    ['4242 4242', 0, '4242 4242', 0],
    // behind a digit that is not shown any more
    ['42424242x', 8, '4242', 4],
  ])('%p at %d, shown as %p: %d', (typed, caret, formatted, expected) => {
    expect(caretAfterFormat(typed, caret, formatted)).toBe(expected);
  });
});
