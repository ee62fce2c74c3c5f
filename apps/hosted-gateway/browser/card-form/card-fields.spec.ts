import { formatCardNumber, formatExpiry, parseExpiry } from '@svc/sdk/card';
import fc from 'fast-check';
import { en } from '../../src/languages/en.js';
import { zu } from '../../src/languages/zu.js';
import {
  CARD_FIELDS,
  type CardFieldName,
  checkCardFields,
  findCaretAfterFormat,
  readCard,
  shouldFormatAfter,
} from './card-fields.js';

const now = new Date('2026-11-20T18:03:36.123Z');
const validTexts = { cardNumber: '4242 4242 4242 4242', expiry: '12 / 30', cvv: '123', holderName: ' Thandi Nkosi ' };

test('readCard throws an error if the expiry is invalid', () => {
  expect(() => readCard({ ...validTexts, expiry: '13 / 30' }, now)).toThrow('The fields were not checked');
});

describe('checkCardFields', () => {
  it('accepts a valid card, and readCard returns its parsed data', () => {
    const card = {
      cardNumber: '4242424242424242',
      cvv: '123',
      holderName: 'Thandi Nkosi',
      expiryMonth: 12,
      expiryYear: 2030,
    };
    for (const texts of [validTexts, { ...validTexts, cvv: ' 123 ' }]) {
      expect(checkCardFields(texts, now, en.fieldErrors)).toStrictEqual({});
      expect(readCard(texts, now)).toEqual(card);
    }
    expect(checkCardFields({ ...validTexts, holderName: 'x'.repeat(100) }, now, en.fieldErrors)).toStrictEqual({});
  });

  it.each([
    [{ cardNumber: '' }, 'cardNumber', 'Enter the card number.'],
    [{ cardNumber: ' ' }, 'cardNumber', 'Enter the card number.'],
    [{ cardNumber: '4242 4242 4242 4241' }, 'cardNumber', 'This card number is not correct. Check the digits.'],
    [{ cardNumber: '4242 4242' }, 'cardNumber', 'This card number is not correct. Check the digits.'],
    [{ expiry: '12' }, 'expiry', 'Enter the expiry date as MM / YY.'],
    [{ expiry: '13 / 30' }, 'expiry', 'The month must be 01 to 12.'],
    [{ expiry: '10 / 26' }, 'expiry', 'This card has expired. Check the expiry date, or use another card.'],
    [{ expiry: '10 / 99' }, 'expiry', 'Check the year.'],
    [{ cvv: '' }, 'cvv', 'Enter the CVV.'],
    [{ cvv: ' ' }, 'cvv', 'Enter the CVV.'],
    [{ cvv: 'a12' }, 'cvv', 'The CVV of this card has 3 digits.'],
    [{ cvv: '12a' }, 'cvv', 'The CVV of this card has 3 digits.'],
    [{ cvv: '1234' }, 'cvv', 'The CVV of this card has 3 digits.'],
    [{ cardNumber: '3782 822463 10005' }, 'cvv', 'The CVV of this card has 4 digits.'],
    [{ holderName: '  ' }, 'holderName', 'Enter the name on the card.'],
    [{ holderName: '\u200b\u2060 \ufeff' }, 'holderName', 'Enter the name on the card.'],
    [{ holderName: 'x'.repeat(101) }, 'holderName', 'Use at most 100 characters.'],
  ])('returns for the input %j an error of the field %s: "%s"', (change, field, message) => {
    expect(checkCardFields({ ...validTexts, ...change }, now, en.fieldErrors)).toStrictEqual({ [field]: message });
  });

  it('returns errors in the language of the page', () => {
    const problems = checkCardFields({ ...validTexts, cvv: '1', holderName: 'x'.repeat(101) }, now, zu.fieldErrors);
    expect(problems).toStrictEqual({
      cvv: 'I-CVV yaleli khadi inezinombolo ezingu-3.',
      holderName: 'Sebenzisa izinhlamvu ezingeqi ku-100.',
    });
  });

  it('returns an error with both CVV lengths if the brand is unknown', () => {
    expect(checkCardFields({ ...validTexts, cardNumber: '', cvv: '12' }, now, en.fieldErrors).cvv).toBe(
      'The CVV has 3 or 4 digits.',
    );
  });

  it('returns an error for every field of an empty form, in the order of the page', () => {
    const empty = { cardNumber: '', expiry: '', cvv: '', holderName: '' };
    const inOrder = ['cardNumber', 'expiry', 'cvv', 'holderName'];
    expect([Object.keys(checkCardFields(empty, now, en.fieldErrors)), CARD_FIELDS]).toEqual([inOrder, inOrder]);
  });
});

describe('findCaretAfterFormat', () => {
  it.each([
    // A caret at the end stays at the end.
    ['42424', 5, '4242 4', 6],
    ['5', 1, '05', 2],
    // A caret in the middle stays behind the same digit.
    ['4242 94242 4242', 6, '4242 9424 2424 2', 6],
    ['4242942424242', 4, '4242 9424 2424 2', 4],
    ['4242 4242', 0, '4242 4242', 0],
    // A caret behind a digit that the formatted text omits moves to the end.
    ['42424242x', 8, '4242', 4],
  ])(
    'moves the caret in the text %p from %d, when the text is formatted as %p, to %d',
    (typed, caret, formatted, expected) => {
      expect(findCaretAfterFormat(typed, caret, formatted)).toBe(expected);
    },
  );
});

describe('shouldFormatAfter', () => {
  it.each<[CardFieldName, string | undefined, caret: number, isFormatted: boolean]>([
    // The form formats the text immediately after autofill, pasting and unknown edits.
    ['cardNumber', undefined, 5, true],
    ['expiry', undefined, 2, true],
    ['expiry', 'insertFromPaste', 2, true],
    ['expiry', 'insertFromDrop', 2, true],
    ['expiry', 'insertReplacementText', 2, true],
    ['expiry', 'reinsertText', 2, true],
    ['expiry', 'undelete', 2, true],
    ['cardNumber', 'insertText', 5, true],
    ['cardNumber', 'insertText', 2, true],
    ['expiry', 'insertText', 5, true],
    ['expiry', 'insertText', 2, false],
    ['cardNumber', 'deleteContentBackward', 5, false],
    ['cardNumber', 'historyUndo', 5, false],
    ['expiry', 'deleteContentForward', 5, false],
  ])(
    'of the field %s, after an edit of type %s with the caret at %d of 5, is %s',
    (field, inputType, caret, expected) =>
      expect(shouldFormatAfter(field, { inputType, caret, length: 5 })).toBe(expected),
  );
});

/** Simulates a text field of a browser, formatted as card-form.ts does. */
class SimulatedField {
  text = '';
  caret = 0;
  constructor(private readonly name: CardFieldName) {}

  type(text: string, inputType = 'insertText'): this {
    return this.replace(this.caret, this.caret, text, inputType);
  }

  backspace(): this {
    return this.caret === 0 ? this : this.replace(this.caret - 1, this.caret, '', 'deleteContentBackward');
  }

  delete(): this {
    return this.caret === this.text.length
      ? this
      : this.replace(this.caret, this.caret + 1, '', 'deleteContentForward');
  }

  fill(text: string, inputType?: string): this {
    return this.replace(0, this.text.length, text, inputType);
  }

  at(caret: number): this {
    this.caret = Math.min(caret, this.text.length);
    return this;
  }

  leave(): this {
    this.text = this.format(this.text);
    return this.at(this.text.length);
  }

  private replace(from: number, to: number, by: string, inputType: string | undefined): this {
    const edited = this.text.slice(0, from) + by + this.text.slice(to);
    const caret = from + by.length;
    const isFormatted = shouldFormatAfter(this.name, { inputType, caret, length: edited.length });
    this.text = isFormatted ? this.format(edited) : edited;
    return this.at(isFormatted && this.text !== edited ? findCaretAfterFormat(edited, caret, this.text) : caret);
  }

  private format(text: string): string {
    return this.name === 'expiry' ? formatExpiry(text) : formatCardNumber(text);
  }
}

const createTypedField = (name: CardFieldName, keys: string): SimulatedField => {
  const field = new SimulatedField(name);
  for (const key of keys) field.type(key);
  return field;
};

describe('the expiry field', () => {
  it.each([
    ['1230', '12 / 30'],
    ['12/30', '12 / 30'],
    ['12 / 2030', '12 / 30'],
    ['230', '02 / 30'],
    ['2/30', '02 / 30'],
    ['130', '01 / 30'],
    ['2030-12', '12 / 30'],
    ['2030/12', '12 / 30'],
    ['203012', '12 / 30'],
  ])('formats the keys %s, typed one after the other, as %s', (keys, text) =>
    expect(createTypedField('expiry', keys).text).toBe(text),
  );

  it.each<[string, (field: SimulatedField) => SimulatedField, string]>([
    ['the second digit of the month', (field) => field.at(2).backspace().type('1'), '11 / 30'],
    ['the first digit of the month', (field) => field.at(0).delete().type('0'), '02 / 30'],
    ['the month', (field) => field.at(2).backspace().backspace().type('0').type('5'), '05 / 30'],
    ['the year', (field) => field.backspace().backspace().type('2').type('9'), '12 / 29'],
    ['the whole date', (field) => field.fill('').type('0').type('5').type('2').type('9'), '05 / 29'],
    ['the date by autofill', (field) => field.fill('2029-05'), '05 / 29'],
    ['the date by pasting', (field) => field.fill('5/2029', 'insertFromPaste'), '05 / 29'],
  ])('lets the payer correct %s', (_, correct, text) => {
    expect(correct(createTypedField('expiry', '1230')).leave().text).toBe(text);
  });
});

describe('any sequence of edits', () => {
  const edit = fc.oneof(
    { arbitrary: fc.constantFrom(...'0123456789').map((key) => (field: SimulatedField) => field.type(key)), weight: 4 },
    fc.constant((field: SimulatedField) => field.backspace()),
    fc.constant((field: SimulatedField) => field.delete()),
    fc.nat(24).map((position) => (field: SimulatedField) => field.at(position)),
  );
  const edits = fc.array(edit, { minLength: 1, maxLength: 40 });
  const extractDigits = (text: string): string => text.replace(/\D/g, '');

  /**
   * True if only the typed or deleted digit has changed. A number that is too long may also have lost its last digits.
   */
  const isOneDigitApart = (
    digitsBefore: string,
    digitsAfter: string,
    caretBefore: number,
    caretAfter: number,
  ): boolean => {
    if (digitsAfter.length > digitsBefore.length)
      return (
        digitsAfter.slice(0, caretBefore) === digitsBefore.slice(0, caretBefore) &&
        digitsAfter.slice(caretBefore + 1) === digitsBefore.slice(caretBefore) &&
        caretAfter === caretBefore + 1
      );
    if (digitsAfter.length < digitsBefore.length)
      return (
        digitsBefore.startsWith(digitsAfter.slice(0, caretAfter)) &&
        digitsBefore.endsWith(digitsAfter.slice(caretAfter))
      );
    return true;
  };

  it('changes a card number only by the edited digit at each edit, and leaves the caret at that digit', () => {
    fc.assert(
      fc.property(edits, (all) => {
        const field = new SimulatedField('cardNumber');
        for (const applyEdit of all) {
          const [before, caret] = [field.text, field.caret];
          applyEdit(field);
          const digits = [extractDigits(before), extractDigits(field.text)] as const;
          const caretBefore = extractDigits(before.slice(0, caret)).length;
          const caretAfter = extractDigits(field.text.slice(0, field.caret)).length;
          const isValid = isOneDigitApart(...digits, caretBefore, caretAfter);
          expect([before, field.text, isValid]).toEqual([before, field.text, true]);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('results in a date that stays the same when the payer leaves the field, and that Backspace and Delete can remove', () => {
    const now = new Date('2026-11-20T18:03:36.123Z');
    fc.assert(
      fc.property(fc.constantFrom<CardFieldName>('expiry', 'cardNumber'), edits, (name, all) => {
        const field = new SimulatedField(name);
        for (const applyEdit of all) applyEdit(field);
        const parsed = name === 'expiry' ? parseExpiry(field.text, now) : undefined;
        expect(name === 'expiry' ? parseExpiry(field.leave().text, now) : undefined).toEqual(parsed);
        const copy = new SimulatedField(name).fill(field.text);
        const presses = 2 * field.text.length;
        field.at(field.text.length);
        copy.at(0);
        for (let press = 0; press < presses; press++) {
          field.backspace();
          copy.delete();
        }
        expect([field.text, copy.text]).toEqual(['', '']);
      }),
      { numRuns: 1_000 },
    );
  });
});
