/** The rules of the four card fields, without a browser. */
import { cardBrand, HOLDER_NAME_MAX_LENGTH, isCardNumberValid, normaliseCardNumber, parseExpiry } from '@svc/sdk/card';
import { fieldErrors } from '../src/page-views/strings.js';

/** As typed. */
export interface CardFieldTexts {
  cardNumber: string;
  expiry: string;
  cvv: string;
  holderName: string;
}

export type CardFieldName = keyof CardFieldTexts;

/** In the order of the page: focus goes to the first that is wrong. */
export const CARD_FIELDS: readonly CardFieldName[] = ['cardNumber', 'expiry', 'cvv', 'holderName'];

/** What is wrong with each field, in words; nothing for a field that is right. */
export function checkCardFields(texts: CardFieldTexts, now: Date): Partial<Record<CardFieldName, string>> {
  const problems = {
    cardNumber: checkCardNumber(texts.cardNumber),
    expiry: checkExpiry(texts.expiry, now),
    cvv: checkCvv(texts.cvv, texts.cardNumber),
    holderName: checkHolderName(texts.holderName),
  };
  return Object.fromEntries(Object.entries(problems).filter(([, problem]) => problem !== undefined));
}

/** The card to encrypt. @throws Error when a field is wrong: check first */
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

/**
 * Where the caret belongs after the text was formatted: behind the same digit as before. Without it, correcting a
 * digit in the middle would throw the caret to the end.
 */
export function caretAfterFormat(typed: string, caret: number, formatted: string): number {
  if (caret >= typed.length) return formatted.length;
  let digitsLeft = typed.slice(0, caret).replace(/\D/g, '').length;
  let position = 0;
  while (digitsLeft > 0 && position < formatted.length) {
    if (/\d/.test(formatted.charAt(position))) digitsLeft--;
    position++;
  }
  return position;
}

function checkCardNumber(text: string): string | undefined {
  if (text.trim() === '') return fieldErrors.cardNumberMissing;
  return isCardNumberValid(text) ? undefined : fieldErrors.cardNumberWrong;
}

function checkExpiry(text: string, now: Date): string | undefined {
  const expiry = parseExpiry(text, now);
  if (expiry.ok) return undefined;
  const words = {
    incomplete: fieldErrors.expiryMissing,
    month: fieldErrors.expiryMonth,
    past: fieldErrors.expiryPast,
    far: fieldErrors.expiryFar,
  };
  return words[expiry.problem];
}

function checkCvv(text: string, cardNumber: string): string | undefined {
  const cvv = text.trim();
  if (cvv === '') return fieldErrors.cvvMissing;
  const lengths = cardBrand(cardNumber).cvvLengths;
  if (/^\d+$/.test(cvv) && lengths.includes(cvv.length)) return undefined;
  const [only] = lengths;
  return lengths.length === 1 && only !== undefined ? fieldErrors.cvvWrong(only) : fieldErrors.cvvWrongEither;
}

function checkHolderName(text: string): string | undefined {
  if (text.trim() === '') return fieldErrors.holderNameMissing;
  return text.length > HOLDER_NAME_MAX_LENGTH ? fieldErrors.holderNameLong(HOLDER_NAME_MAX_LENGTH) : undefined;
}
