/**
 * Parses and validates the amount and the tip that a payer of a till's invoice enters. amount-fields.ts applies these
 * pure functions to the page.
 */

/** The input of the payer. Undefined for a field that the page does not have. */
export interface AmountTexts {
  readonly amount: string | undefined;
  readonly tip: string | undefined;
}

interface AmountLimits {
  /** Amount of the invoice in cents. */
  readonly invoiceAmount: number;
  /** Limits of the amount in cents. */
  readonly amountMin: number;
  readonly amountMax: number;
  /** Maximum of the tip in cents. */
  readonly tipMax: number;
}

/** The amounts that the payer chose, in cents. */
export interface ChosenAmounts {
  readonly amount: number;
  readonly tipAmount: number;
}

export type AmountProblem = 'notAnAmount' | 'tooLittle' | 'tooMuch';

/**
 * Limit in cents for the sum of amount and tip. Must equal the limit in libs/contracts, which the page cannot import.
 */
export const MAX_CHOSEN_CENTS = 100_000_000_000;

/**
 * Converts an amount as people type it (`89.50`, `89,5`, `R 1 234`) to cents. Undefined for invalid or ambiguous text.
 */
export function parseAmount(text: string): number | undefined {
  const plain = text
    .normalize('NFKC')
    .replace(/\s/g, '')
    .replace(/^(R|ZAR)(?=\d)/i, '');
  const match = /^(\d{1,10})(?:[.,](\d{1,2}))?$/.exec(plain);
  return match ? Number(match[1]) * 100 + Number((match[2] ?? '').padEnd(2, '0')) : undefined;
}

/** Returns the error of each invalid field. Checks the tip only if the amount is valid. */
export function checkAmounts(
  texts: AmountTexts,
  limits: AmountLimits,
): { readonly amount?: AmountProblem; readonly tip?: AmountProblem } {
  const { amount, tip } = texts;
  const { amountMin, amountMax } = limits;
  const amountProblem = amount === undefined ? undefined : findProblem(parseAmount(amount), amountMin, amountMax);
  const tipCents = tip === undefined || tip.trim() === '' ? 0 : parseAmount(tip);
  const tipProblem = findProblem(tipCents, 0, findTipMax(texts, limits));
  return {
    ...(amountProblem === undefined ? {} : { amount: amountProblem }),
    ...(tipProblem === undefined || amountProblem !== undefined ? {} : { tip: tipProblem }),
  };
}

/** Maximum of the tip in cents. It is lower if the amount is close to the limit of a charge. */
export function findTipMax(texts: AmountTexts, limits: AmountLimits): number {
  return Math.min(limits.tipMax, MAX_CHOSEN_CENTS - readAmounts(texts, limits).amount);
}

/** The amounts in cents. The fields must be valid. An empty tip is 0. */
export function readAmounts(
  { amount, tip }: AmountTexts,
  { invoiceAmount }: Pick<AmountLimits, 'invoiceAmount'>,
): ChosenAmounts {
  return {
    amount: amount === undefined ? invoiceAmount : (parseAmount(amount) ?? invoiceAmount),
    tipAmount: tip === undefined ? 0 : (parseAmount(tip) ?? 0),
  };
}

function findProblem(cents: number | undefined, min: number, max: number): AmountProblem | undefined {
  if (cents === undefined) return 'notAnAmount';
  if (cents < min) return 'tooLittle';
  return cents > max ? 'tooMuch' : undefined;
}
