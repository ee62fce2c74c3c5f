/** The rules of a till's basket: its lines, its sums and the amount due. */
import { add, type Decimal, decimalFromNumber, multiply, roundHalfUp, subtract, ZERO } from './decimal.js';

/** Maximum number of lines of one basket (T3). */
export const MAX_LINES = 500;

/** One line as the till sent it; amounts are cents. */
export interface BasketLine {
  /** The number of the line, which the till chooses. */
  readonly id: number;
  readonly name: string;
  readonly productCode: string;
  /** Whole cents of one unit. */
  readonly price: number;
  /** Fractional for weighed goods, negative for returns, never 0. */
  readonly quantity: number;
  /** The line's total as the till sent it. It may be fractional if the quantity is fractional. */
  readonly lineTotal: number;
}

type LineChange = 'added' | 'replaced' | 'removed' | 'nothing-to-remove' | 'full';

/**
 * Adds a line to the lines of a basket. A line with the same id is replaced, or removed if the new quantity is 0 (T3).
 * Changes nothing and returns `full` if the basket has `MAX_LINES` lines.
 */
export function putLine(
  lines: readonly BasketLine[],
  line: BasketLine,
): { readonly lines: readonly BasketLine[]; readonly change: LineChange } {
  const isKnown = lines.some(({ id }) => id === line.id);
  if (line.quantity === 0)
    return isKnown
      ? { lines: lines.filter(({ id }) => id !== line.id), change: 'removed' }
      : { lines, change: 'nothing-to-remove' };
  if (isKnown) return { lines: lines.map((each) => (each.id === line.id ? line : each)), change: 'replaced' };
  if (lines.length >= MAX_LINES) return { lines, change: 'full' };
  return { lines: [...lines, line], change: 'added' };
}

/** Whether the line's total equals price times quantity, if both are rounded to whole cents (T3). */
export function isLineTotalCorrect({ price, quantity, lineTotal }: BasketLine): boolean {
  return (
    roundHalfUp(multiply(decimalFromNumber(price), decimalFromNumber(quantity))) ===
    roundHalfUp(decimalFromNumber(lineTotal))
  );
}

/** The content of a basket that was sent line by line, or as a whole through the facade. */
export interface BasketContent {
  readonly lines: readonly BasketLine[];
  /** Only for the facade: Products, BasketDiscounts and Tenders with all of their fields (T3). */
  readonly order?: OrderContent;
}

interface OrderContent {
  readonly Products: readonly object[];
  readonly BasketDiscounts: readonly { readonly DiscountValue: number }[];
  readonly Tenders: readonly { readonly TenderValue: number }[];
}

/**
 * Whether the sum of the lines, minus discounts and other tenders, equals the amount (T3, T11). A till may round each
 * line, or only the sum: both results are correct. Every amount is correct for a line-by-line basket without lines.
 */
export function isSumCorrect({ lines, order }: BasketContent, amountCents: number): boolean {
  if (lines.length === 0 && order === undefined) return true;
  const deductions = [
    ...(order?.BasketDiscounts.map(({ DiscountValue }) => DiscountValue) ?? []),
    ...(order?.Tenders.map(({ TenderValue }) => TenderValue) ?? []),
  ].reduce<Decimal>((sum, value) => add(sum, decimalFromNumber(value)), ZERO);
  // The lines of an order have no totals: compute price times quantity.
  const totals = lines.map(({ price, quantity, lineTotal }) =>
    order === undefined
      ? decimalFromNumber(lineTotal)
      : multiply(decimalFromNumber(price), decimalFromNumber(quantity)),
  );
  const exactSum = totals.reduce(add, ZERO);
  const sumOfRounded = totals.map((total) => decimalFromNumber(roundHalfUp(total))).reduce(add, ZERO);
  return [exactSum, sumOfRounded].some((sum) => roundHalfUp(subtract(sum, deductions)) === amountCents);
}

/** Whether two contents are equal. A repeated call with equal content needs no new invoice. */
export function isSameContent(a: BasketContent, b: BasketContent): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
