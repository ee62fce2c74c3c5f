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
import { IsAmountInCents, IsText, isAmountInCents, MAX_AMOUNT_CENTS, MAX_IDENTIFIER_LENGTH } from '../validation.js';
import type { Invoice } from './codes.js';

/** Most line items of one invoice (C6). */
export const MAX_LINE_ITEMS = 500;
/** Most categories of one line item; with 500 items a body then stays within what a request may have of values. */
export const MAX_CATEGORIES = 10;
/** Longest name of a product; it is shown, not looked up. */
export const MAX_PRODUCT_NAME_LENGTH = 200;
/** Most units of one line, returned ones counted as negative. */
export const MAX_QUANTITY = 1_000_000;

/** One line of a new invoice (specification, "Line item"). */
export class LineItemRequest {
  /** Friendly name, at most 200 characters. */
  @IsOptional()
  @IsText(MAX_PRODUCT_NAME_LENGTH)
  name?: string | null;

  /** Product identifier; required where there is no sku. */
  @ValidateIf((item: LineItemRequest) => isGiven(item.productCode) || !isGiven(item.sku))
  @IsText(MAX_IDENTIFIER_LENGTH, {
    message: `$property must be text of 1 to ${MAX_IDENTIFIER_LENGTH} characters; an item has a productCode or a sku`,
  })
  productCode?: string | null;

  /** Stock keeping unit; required where there is no productCode. */
  @IsOptional()
  @IsText(MAX_IDENTIFIER_LENGTH)
  sku?: string | null;

  /** Whole cents of one unit, 0 to 100 000 000 000; text, or a number (C1). */
  @Matching('isUnitPrice', isUnitPrice, `$property must be whole cents from 0 to ${MAX_AMOUNT_CENTS}`)
  unitPrice: string | number;

  /** Names or codes that group items, at most 10 of 100 characters. */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(MAX_CATEGORIES)
  @IsText(MAX_IDENTIFIER_LENGTH, { each: true })
  categories?: string[] | null;

  /** 1 when absent; fractional for weighed goods, negative for returns; never 0. */
  @IsOptional()
  @Matching('isQuantity', isQuantity, `$property must be a number from -${MAX_QUANTITY} to ${MAX_QUANTITY}, and not 0`)
  quantity?: number | null;
}

/** Body of `POST /business/api/v1/merchants/{m}/sites/{s}/invoices` (D6). Unknown fields are ignored (C5). */
export class CreateInvoiceRequest {
  /** The merchant's own reference: while an invoice with it is open at the site, this is that invoice, or replaces it. */
  @IsOptional()
  @IsText(MAX_IDENTIFIER_LENGTH)
  externalReference?: string | null;

  /** Point-of-sale till identifier; the till's static code shows this invoice (D5). */
  @IsText(MAX_IDENTIFIER_LENGTH)
  siteReference: string;

  /** ISO 4217; only `ZAR` is supported. */
  @Equals('ZAR', { message: '$property must be ZAR, the only supported currency' })
  currencyISOCode: string;

  /** What is to be paid, in cents, 1 to 100 000 000 000 (C1). */
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

  /** Who makes the invoice, e.g. the till's software. */
  @IsText(MAX_IDENTIFIER_LENGTH)
  origin: string;

  /** When the till made it: ISO 8601 UTC, milliseconds optional. Only shown; the lifetime counts from the request. */
  @Matching('isUtcDate', isUtcDate, '$property must be a date like 2026-11-20T18:03:36.123Z')
  createdUTCDate: string;

  /** The invoice's reference at its origin. */
  @IsOptional()
  @IsText(MAX_IDENTIFIER_LENGTH)
  originReference?: string | null;
}

/** An invoice as the merchant that made it sees it (D6): what a payer sees, and how it is shown to one. */
export interface InvoiceResponse extends Invoice {
  /** UUID; also the `reference` header. */
  reference: string;
  externalReference?: string;
  /** Text of the dynamic code: an address of the service (D5). */
  code: string;
  /** From then on it cannot be paid any more. ISO 8601 UTC with milliseconds. */
  expiresUTCDate: string;
}

/** A till's static code (D5). */
export interface TillCodeResponse {
  siteReference: string;
  /** Text of the code: an address of the service. It means the till's newest open invoice. */
  code: string;
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

export function isUnitPrice(value: unknown): value is string | number {
  if (typeof value === 'string') return /^\d{1,12}$/.test(value) && Number(value) <= MAX_AMOUNT_CENTS;
  return value === 0 || isAmountInCents(value);
}

export function isQuantity(value: unknown): value is number {
  return typeof value === 'number' && value !== 0 && Math.abs(value) <= MAX_QUANTITY;
}

/** A date that exists, in this century. `Date` alone would take 31 February for 3 March. */
export function isUtcDate(value: unknown): value is string {
  if (typeof value !== 'string' || !/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$/.test(value)) return false;
  const date = new Date(value);
  return !Number.isNaN(date.getTime()) && date.toISOString().slice(0, 19) === value.slice(0, 19);
}

function Matching(name: string, validate: (value: unknown) => boolean, message: string): PropertyDecorator {
  return (target, propertyKey) =>
    registerDecorator({
      name,
      target: target.constructor,
      propertyName: propertyKey as string,
      options: { message },
      validator: { validate },
    });
}
