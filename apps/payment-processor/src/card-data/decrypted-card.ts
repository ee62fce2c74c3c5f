import { isText, MAX_IDENTIFIER_LENGTH, toLabel } from '@svc/contracts';
import { DomainError, type FieldProblem } from '@svc/kernel';
import type { Card, CardBinding } from './card.js';

/**
 * Checks that a decrypted card was encrypted for this payment of this session, and that its fields are valid. An error
 * names the invalid fields and never contains their values.
 */
export function checkDecryptedCard(
  decrypted: unknown,
  expected: { sessionId: string; paymentNumber: number },
  now: Date,
  needsCvv = true,
): Card {
  const { card, binding } = recordOrEmpty(decrypted) as { card?: unknown; binding?: unknown };
  const {
    sessionId,
    paymentNumber: boundNumber,
    expiresAt,
  } = recordOrEmpty(binding) as Partial<Record<keyof CardBinding, unknown>>;
  const expiry = typeof expiresAt === 'string' ? Date.parse(expiresAt) : NaN;
  if (sessionId !== expected.sessionId || boundNumber !== expected.paymentNumber || Number.isNaN(expiry)) {
    throw new DomainError('request.invalid', {
      message: 'The card was encrypted for another page. Reload the page and try again.',
    });
  }
  if (expiry <= now.getTime()) throw expiredCardError(now.getTime() - expiry);
  return checkCard(recordOrEmpty(card), now, { needsCvv });
}

/** The message names the clock, because a partner whose clock is slow encrypts every card with an expiry in the past. */
function expiredCardError(ageMs: number): DomainError {
  const age = `${Math.round(ageMs / 1000)} s`;
  return new DomainError('request.invalid', {
    message: `The encrypted card expired ${age} ago. Reload the page and try again. If a program encrypted the card, its clock may be wrong: it must use the platform's time, the header Date.`,
  });
}

interface CardChecks {
  /** Path of the card, the prefix of each field name. */
  readonly parent?: string;
  readonly needsCvv?: boolean;
}

/** Throws `request.invalid` with the {@link cardProblems} of an invalid card. */
export function checkCard(card: Partial<Record<keyof Card, unknown>>, now: Date, checks: CardChecks = {}): Card {
  const problems = cardProblems(card, now, checks);
  if (problems.length > 0) throw new DomainError('request.invalid', { fields: problems });
  const { cardNumber, cvv, holderName, expiryMonth, expiryYear } = card;
  return {
    cardNumber,
    ...(checks.needsCvv === false ? {} : { cvv }),
    holderName: toLabel(holderName),
    expiryMonth,
    expiryYear,
  } as Card;
}

/**
 * Returns the invalid fields of a card. The CVV is checked only if it is required. No message contains the value of a
 * field.
 */
export function cardProblems(
  card: Partial<Record<keyof Card, unknown>>,
  now: Date,
  { parent = '', needsCvv = true }: CardChecks = {},
): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const addProblemUnless = (isValid: boolean, field: string, message: string): void =>
    void (isValid || problems.push({ field: parent + field, message }));
  const { cardNumber, cvv, holderName, expiryMonth, expiryYear } = card;
  addProblemUnless(
    typeof cardNumber === 'string' && /^\d{12,19}$/.test(cardNumber) && isLuhnValid(cardNumber),
    'cardNumber',
    'The card number is not valid.',
  );
  addProblemUnless(
    !needsCvv || (typeof cvv === 'string' && /^\d{3,4}$/.test(cvv)),
    'cvv',
    'The CVV has 3 or 4 digits.',
  );
  addProblemUnless(
    isText(toLabel(holderName), MAX_IDENTIFIER_LENGTH),
    'holderName',
    'The name on the card is missing.',
  );
  addProblemUnless(
    isNotExpired(expiryMonth, expiryYear, now),
    'expiryDate',
    'The expiry date is not valid or has passed.',
  );
  return problems;
}

/** Checks the last digit by the Luhn algorithm (ISO/IEC 7812-1). */
export function isLuhnValid(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]);
    const addend = i % 2 === 1 ? digit * 2 : digit;
    sum += addend > 9 ? addend - 9 : addend;
  }
  return sum % 10 === 0;
}

/** A card is valid until the end of its month in every time zone. Therefore one day is added. */
function isNotExpired(month: unknown, year: unknown, now: Date): boolean {
  if (!Number.isInteger(month) || !Number.isInteger(year)) return false;
  const [monthNumber, yearNumber] = [month as number, year as number];
  if (monthNumber < 1 || monthNumber > 12 || yearNumber > now.getUTCFullYear() + 30) return false;
  // `Date.UTC` counts months from 0, so this is the second day of the month after the expiry.
  return Date.UTC(yearNumber, monthNumber, 2) > now.getTime();
}

function recordOrEmpty(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
