import { formatCardNumber, formatExpiry, parseExpiry } from '@svc/sdk/card';
import fc from 'fast-check';
import { en } from '../../src/languages/en.js';
import { zu } from '../../src/languages/zu.js';
import {
  CARD_FIELDS,
  type CardFieldName,
  caretAfterFormat,
  checkCardFields,
  isFormattedAfter,
  readCard,
} from './card-fields.js';

const now = new Date('2026-11-20T18:03:36.123Z');
const good = { cardNumber: '4242 4242 4242 4242', expiry: '12 / 30', cvv: '123', holderName: ' Thandi Nkosi ' };

describe('checkCardFields', () => {
  it('accepts a valid card, and reads it', () => {
    const read = {
      cardNumber: '4242424242424242',
      cvv: '123',
      holderName: 'Thandi Nkosi',
      expiryMonth: 12,
      expiryYear: 2030,
    };
    for (const typed of [good, { ...good, cvv: ' 123 ' }]) {
      expect(checkCardFields(typed, now, en.fieldErrors)).toStrictEqual({});
      expect(readCard(typed, now)).toEqual(read);
    }
    expect(checkCardFields({ ...good, holderName: 'x'.repeat(100) }, now, en.fieldErrors)).toStrictEqual({});
  });

  it('rejects a card with an invalid expiry', () => {
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
    [{ holderName: '\u200b\u2060 \ufeff' }, 'holderName', 'Enter the name on the card.'],
    [{ holderName: 'x'.repeat(101) }, 'holderName', 'Use at most 100 characters.'],
  ])('the input %j has a problem in %s', (change, field, words) => {
    expect(checkCardFields({ ...good, ...change }, now, en.fieldErrors)).toStrictEqual({ [field]: words });
  });

  it('describes a problem in the language of the page', () => {
    const problems = checkCardFields({ ...good, cvv: '1', holderName: 'x'.repeat(101) }, now, zu.fieldErrors);
    expect(problems).toStrictEqual({
      cvv: 'I-CVV yaleli khadi inezinombolo ezingu-3.',
      holderName: 'Sebenzisa izinhlamvu ezingeqi ku-100.',
    });
  });

  it('names both lengths of the CVV if the brand is unknown', () => {
    expect(checkCardFields({ ...good, cardNumber: '', cvv: '12' }, now, en.fieldErrors).cvv).toBe(
      'The CVV has 3 or 4 digits.',
    );
  });

  it('names every field of an empty form', () => {
    const empty = { cardNumber: '', expiry: '', cvv: '', holderName: '' };
    const inOrder = ['cardNumber', 'expiry', 'cvv', 'holderName'];
    expect([Object.keys(checkCardFields(empty, now, en.fieldErrors)), CARD_FIELDS]).toEqual([inOrder, inOrder]);
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
  ])('the text %p with the caret at %d, formatted as %p, has its caret at %d', (typed, caret, formatted, expected) => {
    expect(caretAfterFormat(typed, caret, formatted)).toBe(expected);
  });
});

/** A text field of a browser that card-form.ts formats. */
class Field {
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
    const isFormatted = isFormattedAfter(this.name, { inputType, caret, length: edited.length });
    this.text = isFormatted ? this.format(edited) : edited;
    return this.at(isFormatted && this.text !== edited ? caretAfterFormat(edited, caret, this.text) : caret);
  }

  private format(text: string): string {
    return this.name === 'expiry' ? formatExpiry(text) : formatCardNumber(text);
  }
}

const typed = (name: CardFieldName, keys: string): Field => {
  const field = new Field(name);
  for (const key of keys) field.type(key);
  return field;
};

describe('typing an expiry date', () => {
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
  ])('the keys %s produce %s', (keys, shown) => expect(typed('expiry', keys).text).toBe(shown));

  it.each<[string, (field: Field) => Field, string]>([
    ['the second digit of the month', (field) => field.at(2).backspace().type('1'), '11 / 30'],
    ['the first digit of the month', (field) => field.at(0).delete().type('0'), '02 / 30'],
    ['the month', (field) => field.at(2).backspace().backspace().type('0').type('5'), '05 / 30'],
    ['the year', (field) => field.backspace().backspace().type('2').type('9'), '12 / 29'],
    ['all of it', (field) => field.fill('').type('0').type('5').type('2').type('9'), '05 / 29'],
    ['what the browser filled in', (field) => field.fill('2029-05'), '05 / 29'],
    ['what was pasted', (field) => field.fill('5/2029', 'insertFromPaste'), '05 / 29'],
  ])('corrects %s', (_, correct, shown) => {
    expect(correct(typed('expiry', '1230')).leave().text).toBe(shown);
  });
});

describe('any edit', () => {
  const edit = fc.oneof(
    { arbitrary: fc.constantFrom(...'0123456789').map((key) => (field: Field) => field.type(key)), weight: 4 },
    fc.constant((field: Field) => field.backspace()),
    fc.constant((field: Field) => field.delete()),
    fc.nat(24).map((place) => (field: Field) => field.at(place)),
  );
  const edits = fc.array(edit, { minLength: 1, maxLength: 40 });
  const digitsOf = (text: string): string => text.replace(/\D/g, '');

  /** Only the typed or deleted digit has changed; a number that is too long loses its last digits. */
  const isOneDigitApart = (was: string, is: string, place: number, behind: number): boolean => {
    if (is.length > was.length)
      return (
        is.slice(0, place) === was.slice(0, place) && is.slice(place + 1) === was.slice(place) && behind === place + 1
      );
    if (is.length < was.length) return was.startsWith(is.slice(0, behind)) && was.endsWith(is.slice(behind));
    return true;
  };

  it('of a number keeps the same digits as a plain field, and the caret at the same digit', () => {
    fc.assert(
      fc.property(edits, (all) => {
        const field = new Field('cardNumber');
        for (const each of all) {
          const [before, caret] = [field.text, field.caret];
          each(field);
          const [was, is] = [digitsOf(before), digitsOf(field.text)];
          const place = digitsOf(before.slice(0, caret)).length;
          const behind = digitsOf(field.text.slice(0, field.caret)).length;
          expect([before, field.text, isOneDigitApart(was, is, place, behind)]).toEqual([before, field.text, true]);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('of a date keeps it parsable, and every field can be emptied with Backspace and with Delete', () => {
    const now = new Date('2026-11-20T18:03:36.123Z');
    fc.assert(
      fc.property(fc.constantFrom<CardFieldName>('expiry', 'cardNumber'), edits, (name, all) => {
        const field = new Field(name);
        for (const each of all) each(field);
        const read = name === 'expiry' ? parseExpiry(field.text, now) : undefined;
        expect(name === 'expiry' ? parseExpiry(field.leave().text, now) : undefined).toEqual(read);
        const [copy, presses] = [new Field(name).fill(field.text), 2 * field.text.length];
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
