/** The rows of a basket as texts in the language of the page, for the page and for the receipt by e-mail. */
import type { Messages } from '../../languages/en.js';
import { formatAmount } from '../../languages/format-amount.js';
import type { OrderBasket, OrderLine } from './order-basket.js';

export interface BasketRow {
  readonly label: string;
  readonly amount: string;
}

export interface BasketLineRow extends BasketRow {
  /** Absent if the quantity is 1. */
  readonly quantity?: { readonly count: string; readonly unitPrice: string };
}

/** A row below the lines. */
export interface BasketTotalRow extends BasketRow {
  readonly isTotal: boolean;
}

/** A line: its name, the quantity and the price of a unit unless the quantity is 1, and its total. */
export function buildLineRow(
  { label, quantity, unitPriceCents, amountCents }: OrderLine,
  currencyISOCode: string,
  { format }: Pick<Messages, 'format'>,
): BasketLineRow {
  const amount = formatSignedAmount(amountCents, currencyISOCode, format);
  if (quantity === 1) return { label, amount };
  const unitPrice = formatSignedAmount(unitPriceCents, currencyISOCode, format);
  return { label, amount, quantity: { count: formatQuantity(quantity, format), unitPrice } };
}

/** Delivery, tax that is added, the total, and tax that the prices include. */
export function buildTotalRows(
  { shippingCents, tax, totalCents }: OrderBasket,
  currencyISOCode: string,
  { page, format }: Pick<Messages, 'page' | 'format'>,
): BasketTotalRow[] {
  const rows = [
    { label: page.shipping, cents: shippingCents, isTotal: false },
    { label: page.tax, cents: tax?.isIncluded === false ? tax.amountCents : undefined, isTotal: false },
    { label: page.total, cents: totalCents, isTotal: true },
    { label: page.taxIncluded, cents: tax?.isIncluded === true ? tax.amountCents : undefined, isTotal: false },
  ];
  return rows.flatMap(({ label, cents, isTotal }) =>
    cents === undefined ? [] : [{ label, amount: formatSignedAmount(cents, currencyISOCode, format), isTotal }],
  );
}

/** The number of pieces. A line that is weighed, or was returned, counts as one. */
export function countItems(lines: readonly OrderLine[]): number {
  return lines.reduce((count, { quantity }) => count + (Number.isInteger(quantity) && quantity > 0 ? quantity : 1), 0);
}

/** The amount of a returned item has a minus. */
function formatSignedAmount(cents: number, currencyISOCode: string, format: Messages['format']): string {
  const amount = formatAmount(Math.abs(cents), currencyISOCode, format);
  return cents < 0 ? `−${amount}` : amount;
}

/** The quantity, rounded to a thousandth, which is the precision of scales. */
function formatQuantity(quantity: number, { decimalMark }: Messages['format']): string {
  const rounded = String(Math.round(Math.abs(quantity) * 1_000) / 1_000).replace('.', decimalMark);
  return quantity < 0 ? `−${rounded}` : rounded;
}
