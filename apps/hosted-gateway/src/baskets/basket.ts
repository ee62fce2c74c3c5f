/**
 * The basket of a session: its line items, delivery and tax (H9). The page and the receipt show it. It is *not* the
 * basis of the charge: the payer pays the amount of the session.
 *
 * A basket is shown completely or not at all, because a basket without one of its lines would not explain the amount.
 */
import {
  isQuantity,
  isText,
  isUnitPrice,
  MAX_AMOUNT_CENTS,
  MAX_IDENTIFIER_LENGTH,
  MAX_LINE_ITEMS,
  MAX_PRODUCT_NAME_LENGTH,
  MAX_QUANTITY,
  toLabel,
} from '@svc/contracts';
import type { FieldProblem } from '@svc/kernel';

export interface BasketLine {
  readonly name: string;
  /** Cents. */
  readonly unitPrice: number;
  /** Default 1. */
  readonly quantity?: number;
}

export interface Basket {
  /** 1 to 500. */
  readonly lines: readonly BasketLine[];
  /** Cents. */
  readonly taxAmount?: number;
  /** Cents. */
  readonly shippingAmount?: number;
}

/** The fields of a request, not validated. */
export interface BasketFields {
  readonly lineItems?: unknown;
  readonly taxAmount?: unknown;
  readonly shippingAmount?: unknown;
}

/** Maximum number of warnings about one request. */
export const MAX_BASKET_WARNINGS = 5;

/**
 * Reads the basket of a request. A basket that breaks a rule is null, and the warnings say why: the gateway ignored these
 * fields before it showed them, so they must never fail a request.
 *
 * @param amount of the session, in cents
 */
export function readBasket(
  fields: BasketFields,
  amount: number,
): { basket: Basket | null; warnings: readonly FieldProblem[] } {
  const { lineItems, taxAmount, shippingAmount } = fields;
  const warnings: FieldProblem[] = [];
  const lines = readLines(lineItems, warnings);
  for (const [field, value] of Object.entries({ taxAmount, shippingAmount }))
    if (value !== undefined && !isCents(value))
      warnings.push({ field, message: `${field} must be a whole number of cents from 0 to ${MAX_AMOUNT_CENTS}` });
    else if (value !== undefined && lines.length === 0 && warnings.length === 0)
      warnings.push({ field, message: `${field} is shown only together with lineItems` });
  if (warnings.length > 0) return { basket: null, warnings: warnings.slice(0, MAX_BASKET_WARNINGS) };
  if (lines.length === 0) return { basket: null, warnings };
  const basket: Basket = {
    lines,
    ...(isCents(taxAmount) ? { taxAmount } : {}),
    ...(isCents(shippingAmount) ? { shippingAmount } : {}),
  };
  if (isTaxIncluded(basket, amount) || isTaxAdded(basket, amount)) return { basket, warnings };
  return { basket: null, warnings: [{ field: 'lineItems', message: describeDifference(basket, amount) }] };
}

/** True if the prices of the lines include the tax. */
export function isTaxIncluded(basket: Basket, amount: number): boolean {
  return Math.abs(computeNet(basket) - amount) <= computeTolerance(basket);
}

function isTaxAdded(basket: Basket, amount: number): boolean {
  return Math.abs(computeNet(basket) + (basket.taxAmount ?? 0) - amount) <= computeTolerance(basket);
}

function describeDifference(basket: Basket, amount: number): string {
  const net = computeNet(basket);
  const gross = basket.taxAmount === undefined ? '' : ` (${net + basket.taxAmount} with taxAmount)`;
  return `lineItems and shippingAmount are ${net} cents${gross}, but amount is ${amount}: the page shows no lines`;
}

/** The lines and the delivery, in cents. */
function computeNet({ lines, shippingAmount = 0 }: Basket): number {
  return lines.reduce((sum, line) => sum + computeLineTotal(line), shippingAmount);
}

/** One cent for each line with a part of a unit, because merchants round such lines in different ways. */
function computeTolerance({ lines }: Basket): number {
  return lines.filter(({ quantity = 1 }) => !Number.isInteger(quantity)).length;
}

/** Line total in cents, rounded half away from zero, at most the largest safe integer. */
export function computeLineTotal({ unitPrice, quantity = 1 }: Pick<BasketLine, 'unitPrice' | 'quantity'>): number {
  const exact = unitPrice * quantity;
  const cents = Math.min(Math.round(Math.abs(exact)), Number.MAX_SAFE_INTEGER);
  return exact < 0 ? 0 - cents : cents;
}

function readLines(lineItems: unknown, warnings: FieldProblem[]): BasketLine[] {
  if (lineItems === undefined) return [];
  if (!Array.isArray(lineItems) || lineItems.length > MAX_LINE_ITEMS) {
    warnings.push({ field: 'lineItems', message: `lineItems must be a list of at most ${MAX_LINE_ITEMS} items` });
    return [];
  }
  return lineItems.flatMap((item: unknown, index) => {
    if (warnings.length >= MAX_BASKET_WARNINGS) return [];
    const field = `lineItems[${index}]`;
    if (typeof item !== 'object' || item === null) {
      warnings.push({ field, message: `${field} must be an object` });
      return [];
    }
    const members = item as Members;
    const problems = findLineProblems(members).map(([member, rule]) => ({
      field: `${field}.${member}`,
      message: `${field}.${member} ${rule}`,
    }));
    warnings.push(...problems);
    return problems.length > 0 ? [] : [toBasketLine(members)];
  });
}

type Members = Readonly<Record<string, unknown>>;

/** The rules of an invoice's line items, except that a name is enough to identify an item. */
function findLineProblems({ name, productCode, sku, unitPrice, quantity }: Members): [member: string, rule: string][] {
  const problems: [string, string][] = [];
  if (name !== undefined && !isText(toLabel(name), MAX_PRODUCT_NAME_LENGTH))
    problems.push(['name', `must be text of 1 to ${MAX_PRODUCT_NAME_LENGTH} characters`]);
  for (const [member, value] of Object.entries({ productCode, sku }))
    if (value !== undefined && !isText(value, MAX_IDENTIFIER_LENGTH))
      problems.push([member, `must be text of 1 to ${MAX_IDENTIFIER_LENGTH} characters`]);
  if (name === undefined && productCode === undefined && sku === undefined)
    problems.push(['name', 'is missing; an item has a name, a productCode or a sku']);
  if (!isUnitPrice(unitPrice)) problems.push(['unitPrice', `must be whole cents from 0 to ${MAX_AMOUNT_CENTS}`]);
  if (quantity !== undefined && !isQuantity(quantity))
    problems.push(['quantity', `must be a number from -${MAX_QUANTITY} to ${MAX_QUANTITY}, and not 0`]);
  return problems;
}

/** @param members without problems */
function toBasketLine({ name, productCode, sku, unitPrice, quantity }: Members): BasketLine {
  return {
    name: toLabel((name ?? productCode ?? sku) as string),
    unitPrice: Number(unitPrice),
    ...(quantity === undefined || quantity === 1 ? {} : { quantity: quantity as number }),
  };
}

function isCents(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= MAX_AMOUNT_CENTS;
}
