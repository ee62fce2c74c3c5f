/** Validation of the four card fields, independent of the document. */
import { cardBrand, HOLDER_NAME_MAX_LENGTH, isCardNumberValid, normaliseCardNumber, parseExpiry } from '@svc/sdk/card';
import { fill } from '../../src/languages/fill.js';
import type { ScriptMessages } from '../script-messages.js';

type FieldErrors = ScriptMessages['fieldErrors'];

/** The texts of the fields, as the payer typed them. */
export interface CardFieldTexts {
  cardNumber: string;
  expiry: string;
  cvv: string;
  holderName: string;
}

export type CardFieldName = keyof CardFieldTexts;

/** In the order of the page, because the first invalid field gets the focus. */
export const CARD_FIELDS: readonly CardFieldName[] = ['cardNumber', 'expiry', 'cvv', 'holderName'];

/** The error message of each invalid field. */
export function checkCardFields(
  texts: CardFieldTexts,
  now: Date,
  errors: FieldErrors,
): Partial<Record<CardFieldName, string>> {
  const problems = {
    cardNumber: checkCardNumber(texts.cardNumber, errors),
    expiry: checkExpiry(texts.expiry, now, errors),
    cvv: checkCvv(texts.cvv, texts.cardNumber, errors),
    holderName: checkHolderName(texts.holderName, errors),
  };
  return Object.fromEntries(Object.entries(problems).filter(([, problem]) => problem !== undefined));
}

/** The card to encrypt. Call {@link checkCardFields} first. @throws Error if the expiry is invalid */
export function readCard(texts: CardFieldTexts, now: Date) {
  const expiry = parseExpiry(texts.expiry, now);
  if (!expiry.ok) throw new Error('The fields were not checked');
  return {
    cardNumber: normaliseCardNumber(texts.cardNumber),
    cvv: texts.cvv.trim(),
    holderName: texts.holderName.trim(),
    expiryMonth: expiry.expiryMonth,
    expiryYear: expiry.expiryYear,
  };
}

/** Describes an edit of a text field, from the browser's input event. */
interface FieldEdit {
  /** `inputType` of the event; undefined for autofill. */
  readonly inputType: string | undefined;
  /** Position of the caret after the edit. */
  readonly caret: number;
  /** Length of the text after the edit. */
  readonly length: number;
}

/**
 * True if the form must format the field immediately after this edit. False if it must format the field only when the
 * payer leaves it: formatting after a deletion would restore the deleted space, and in the middle of a date it would
 * move digits between month and year.
 */
export function shouldFormatAfter(field: CardFieldName, { inputType, caret, length }: FieldEdit): boolean {
  if (inputType === undefined || !/^insert(?!FromPaste|FromDrop|ReplacementText)|^(delete|history)/.test(inputType))
    return true;
  return inputType.startsWith('insert') && (field !== 'expiry' || caret === length);
}

/**
 * Position of the caret after formatting: behind the same digit as before. Without this, a correction in the middle
 * would move the caret to the end.
 */
export function findCaretAfterFormat(typed: string, caret: number, formatted: string): number {
  if (caret >= typed.length) return formatted.length;
  let digitsLeft = typed.slice(0, caret).replace(/\D/g, '').length;
  let position = 0;
  while (digitsLeft > 0 && position < formatted.length) {
    if (/\d/.test(formatted.charAt(position))) digitsLeft--;
    position++;
  }
  return position;
}

function checkCardNumber(text: string, errors: FieldErrors): string | undefined {
  if (text.trim() === '') return errors.cardNumberMissing;
  return isCardNumberValid(text) ? undefined : errors.cardNumberWrong;
}

function checkExpiry(text: string, now: Date, errors: FieldErrors): string | undefined {
  const expiry = parseExpiry(text, now);
  if (expiry.ok) return undefined;
  const messages = {
    incomplete: errors.expiryMissing,
    month: errors.expiryMonth,
    past: errors.expiryPast,
    far: errors.expiryFar,
  };
  return messages[expiry.problem];
}

function checkCvv(text: string, cardNumber: string, errors: FieldErrors): string | undefined {
  const cvv = text.trim();
  if (cvv === '') return errors.cvvMissing;
  const lengths = cardBrand(cardNumber).cvvLengths;
  if (/^\d+$/.test(cvv) && lengths.includes(cvv.length)) return undefined;
  const [firstLength] = lengths;
  return lengths.length === 1 && firstLength !== undefined
    ? fill(errors.cvvWrong, { digits: firstLength })
    : errors.cvvWrongEither;
}

function checkHolderName(text: string, errors: FieldErrors): string | undefined {
  // Rejects a name that consists only of invisible characters.
  if (/^[\s\p{Default_Ignorable_Code_Point}\p{Cf}]*$/u.test(text)) return errors.holderNameMissing;
  return text.length > HOLDER_NAME_MAX_LENGTH
    ? fill(errors.holderNameLong, { max: HOLDER_NAME_MAX_LENGTH })
    : undefined;
}
