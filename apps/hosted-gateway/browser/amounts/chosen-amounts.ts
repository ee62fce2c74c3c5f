/** Rules of the amount and the tip that a payer of a till's invoice may enter. Pure: amount-fields.ts applies them to the page. */

/** Input of the payer; undefined for a field that the page does not have. */
export interface AmountTexts {
  readonly amount: string | undefined;
  readonly tip: string | undefined;
}

export interface AmountTerms {
  /** Amount of the invoice in cents. */
  readonly owed: number;
  /** Minimum amount in cents. */
  readonly amountMin: number;
}

/** Cents. */
export interface ChosenAmounts {
  readonly amount: number;
  readonly tipAmount: number;
}

export type AmountProblem = 'notAnAmount' | 'tooLittle' | 'tooMuch';

/** Limit in cents for amount and tip together. Equal to the limit in libs/contracts, which is not built for browsers. */
export const MAX_CHOSEN_CENTS = 100_000_000_000;

/** Parses an amount as people type it to cents: `89.50`, `89,5`, `R 1 234`. Undefined for invalid or ambiguous text. */
export function parseAmount(text: string): number | undefined {
  const plain = text
    .normalize('NFKC')
    .replace(/\s/g, '')
    .replace(/^(R|ZAR)(?=\d)/i, '');
  const parts = /^(\d{1,10})(?:[.,](\d{1,2}))?$/.exec(plain);
  return parts ? Number(parts[1]) * 100 + Number((parts[2] ?? '').padEnd(2, '0')) : undefined;
}

/** The error of each field; none for a field that is valid. */
export function checkAmounts(
  { amount, tip }: AmountTexts,
  { owed, amountMin }: AmountTerms,
): { readonly amount?: AmountProblem; readonly tip?: AmountProblem } {
  const amountProblem = amount === undefined ? undefined : problemOf(parseAmount(amount), amountMin);
  const chosen = amount === undefined ? owed : (parseAmount(amount) ?? 0);
  const tipCents = tip === undefined || tip.trim() === '' ? 0 : parseAmount(tip);
  const tipProblem = problemOf(tipCents === undefined ? undefined : tipCents + chosen, 0);
  return {
    ...(amountProblem === undefined ? {} : { amount: amountProblem }),
    ...(tipProblem === undefined || amountProblem !== undefined ? {} : { tip: tipProblem }),
  };
}

/** The amounts of valid fields; an empty tip is 0. */
export function readAmounts({ amount, tip }: AmountTexts, { owed }: AmountTerms): ChosenAmounts {
  return {
    amount: amount === undefined ? owed : (parseAmount(amount) ?? owed),
    tipAmount: tip === undefined ? 0 : (parseAmount(tip) ?? 0),
  };
}

function problemOf(cents: number | undefined, min: number): AmountProblem | undefined {
  if (cents === undefined) return 'notAnAmount';
  if (cents < min) return 'tooLittle';
  return cents > MAX_CHOSEN_CENTS ? 'tooMuch' : undefined;
}
