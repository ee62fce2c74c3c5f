import 'reflect-metadata';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  Equals,
  IsArray,
  IsObject,
  IsOptional,
  registerDecorator,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import {
  IsAmountInCents,
  isAmountInCents,
  IsLabel,
  IsText,
  MAX_AMOUNT_CENTS,
  MAX_IDENTIFIER_LENGTH,
} from '../validation.js';
import type { Invoice } from './codes.js';

/** Maximum number of line items of an invoice (C6). */
export const MAX_LINE_ITEMS = 500;
/**
 * Maximum number of categories of a line item. It keeps a body with 500 items within the limit of values in a request.
 */
export const MAX_CATEGORIES = 10;
/** Maximum length of a product name. */
export const MAX_PRODUCT_NAME_LENGTH = 200;
/** Maximum quantity of a line; returns are negative. */
export const MAX_QUANTITY = 1_000_000;

/** One line of a new invoice (specification, "Line item"). */
export class LineItemRequest {
  /** Friendly name, at most 200 characters. */
  @IsOptional()
  @IsLabel(MAX_PRODUCT_NAME_LENGTH)
  name?: string | null;

  /** Product identifier; required without a sku. */
  @ValidateIf((item: LineItemRequest) => isPresent(item.productCode) || !isPresent(item.sku))
  @IsText(MAX_IDENTIFIER_LENGTH, {
    message: `$property must be text of 1 to ${MAX_IDENTIFIER_LENGTH} characters; an item has a productCode or a sku`,
  })
  productCode?: string | null;

  /** Stock keeping unit; required without a productCode. */
  @IsOptional()
  @IsText(MAX_IDENTIFIER_LENGTH)
  sku?: string | null;

  /** Price of one unit in whole cents, 0 to 100 000 000 000; text or a number (C1). */
  @MatchesRule('isUnitPrice', isUnitPrice, `$property must be whole cents from 0 to ${MAX_AMOUNT_CENTS}`)
  unitPrice: string | number;

  /** Names or codes that group items, at most 10 of 100 characters. */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(MAX_CATEGORIES)
  @IsLabel(MAX_IDENTIFIER_LENGTH, { each: true })
  categories?: string[] | null;

  /** Default 1; fractional for weighed goods, negative for returns; never 0. */
  @IsOptional()
  @MatchesRule(
    'isQuantity',
    isQuantity,
    `$property must be a number from -${MAX_QUANTITY} to ${MAX_QUANTITY}, and not 0`,
  )
  quantity?: number | null;
}

/** Body of `POST /business/api/v1/merchants/{m}/sites/{s}/invoices` (D6). Unknown fields are ignored (C5). */
export class CreateInvoiceRequest {
  /**
   * The merchant's own reference. For 72 hours, a request with the same body returns the same invoice in its current
   * state. A request with another body replaces the open invoice with this reference.
   */
  @IsOptional()
  @IsText(MAX_IDENTIFIER_LENGTH)
  externalReference?: string | null;

  /** Point-of-sale till identifier; the till's static code shows this invoice (D5). */
  @IsText(MAX_IDENTIFIER_LENGTH)
  siteReference: string;

  /** ISO 4217; only `ZAR` is supported. */
  @Equals('ZAR', { message: '$property must be ZAR, the only supported currency' })
  currencyISOCode: string;

  /** Amount due in cents, 1 to 100 000 000 000 (C1). */
  @IsAmountInCents()
  amount: number;

  /** At most 500 (C6). */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(MAX_LINE_ITEMS)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => LineItemRequest)
  lineItems?: LineItemRequest[] | null;

  /** Creator of the invoice, e.g. the till's software. */
  @IsLabel(MAX_IDENTIFIER_LENGTH)
  origin: string;

  /**
   * Time of creation at the till: ISO 8601 UTC, milliseconds optional. For display, and to distinguish two equal sales:
   * the invoice expires relative to the request.
   */
  @MatchesRule('isUtcDate', isUtcDate, '$property must be a date like 2026-11-20T18:03:36.123Z')
  createdUTCDate: string;

  /** The invoice's reference at its origin. */
  @IsOptional()
  @IsText(MAX_IDENTIFIER_LENGTH)
  originReference?: string | null;
}

/** An invoice for its merchant (D6): the data that a payer sees, and its code. */
export interface InvoiceResponse extends Invoice {
  /**
   * UUID; also the `reference` header.
   * @schema uuid
   */
  reference: string;
  externalReference?: string;
  /** Text of the dynamic code: a URL of the platform (D5). */
  code: string;
  /** Time of expiry. ISO 8601 UTC with milliseconds. */
  expiresUTCDate: string;
}

/** A till's static code (D5). */
export interface TillCodeResponse {
  siteReference: string;
  /** Text of the code: a URL of the platform. It leads to the till's newest open invoice. */
  code: string;
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

export function isUnitPrice(value: unknown): value is string | number {
  if (typeof value === 'string') return /^\d{1,12}$/.test(value) && Number(value) <= MAX_AMOUNT_CENTS;
  return value === 0 || isAmountInCents(value);
}

export function isQuantity(value: unknown): value is number {
  return typeof value === 'number' && value !== 0 && Math.abs(value) <= MAX_QUANTITY;
}

/** Whether the value is an existing date of this century. `new Date()` alone would accept 31 February as 3 March. */
export function isUtcDate(value: unknown): value is string {
  if (typeof value !== 'string' || !/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$/.test(value)) return false;
  const date = new Date(value);
  return !Number.isNaN(date.getTime()) && date.toISOString().slice(0, 19) === value.slice(0, 19);
}

function MatchesRule(name: string, validate: (value: unknown) => boolean, message: string): PropertyDecorator {
  return (target, propertyKey) =>
    registerDecorator({
      name,
      target: target.constructor,
      propertyName: propertyKey as string,
      options: { message },
      validator: { validate },
    });
}
