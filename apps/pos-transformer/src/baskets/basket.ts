/** The rules of a till's basket: its lines, its sums and the amount due. */
import { add, type Decimal, decimalFromNumber, multiply, roundHalfUp, subtract, ZERO } from './decimal.js';

/** Of one basket (T3). */
export const MAX_LINES = 500;

/** One line as the till sent it; amounts are cents. */
export interface BasketLine {
  /** The till's own number of the line. */
  readonly id: number;
  readonly name: string;
  readonly productCode: string;
  /** Whole cents of one unit. */
  readonly price: number;
  /** Fractional for weighed goods, negative for returns, never 0. */
  readonly quantity: number;
  /** The line's total as the till sent it; fractional where the quantity is. */
  readonly total: number;
}

export type LineChange = 'added' | 'replaced' | 'removed' | 'nothing-to-remove' | 'full';

/** Adds a line. The same id replaces the line, quantity 0 removes it (T3). `full` changes nothing. */
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

/** Whether the line's total is its price times its quantity, both in whole cents (T3). */
export function isLineTotalCorrect({ price, quantity, total }: BasketLine): boolean {
  return roundHalfUp(multiply(decimalFromNumber(price), decimalFromNumber(quantity))) === roundHalfUp(decimalFromNumber(total));
}

/** The content of a basket, in either dialect. */
export interface BasketContent {
  readonly lines: readonly BasketLine[];
  /** The facade's Products, BasketDiscounts and Tenders, all of their fields (T3). */
  readonly order?: OrderContent;
}

export interface OrderContent {
  readonly Products: readonly object[];
  readonly BasketDiscounts: readonly { readonly DiscountValue: number }[];
  readonly Tenders: readonly { readonly TenderValue: number }[];
}

/**
 * Whether the sum of the lines, less discounts and other tenders, equals the amount (T3, T11). A till may round each line or the
 * sum: both are right. Without lines there is nothing to compare, so every amount is right.
 */
export function isSumCorrect({ lines, order }: BasketContent, amountCents: number): boolean {
  if (lines.length === 0 && order === undefined) return true;
  const deducted = [
    ...(order?.BasketDiscounts.map(({ DiscountValue }) => DiscountValue) ?? []),
    ...(order?.Tenders.map(({ TenderValue }) => TenderValue) ?? []),
  ].reduce<Decimal>((sum, value) => add(sum, decimalFromNumber(value)), ZERO);
  // The lines of an order have no totals: compute price times quantity.
  const totals = lines.map(({ price, quantity, total }) =>
    order === undefined ? decimalFromNumber(total) : multiply(decimalFromNumber(price), decimalFromNumber(quantity)),
  );
  const exact = totals.reduce(add, ZERO);
  const rounded = totals.map((total) => decimalFromNumber(roundHalfUp(total))).reduce(add, ZERO);
  return [exact, rounded].some((sum) => roundHalfUp(subtract(sum, deducted)) === amountCents);
}

/** Whether two baskets have the same content, so that a repeated call needs no new invoice. */
export function isSameContent(a: BasketContent, b: BasketContent): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
