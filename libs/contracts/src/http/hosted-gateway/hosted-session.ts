import 'reflect-metadata';
import { Type } from 'class-transformer';
import { Allow, ArrayMaxSize, Equals, IsArray, IsObject, IsOptional, ValidateNested } from 'class-validator';
import type { ResponseStatusText } from '../../payment-status.js';
import {
  IsAmountInCents,
  IsLabel,
  IsLocale,
  IsText,
  MAX_CUSTOM_FIELD_KEY_LENGTH,
  MAX_CUSTOM_FIELD_VALUE_LENGTH,
  MAX_CUSTOM_FIELDS,
  MAX_IDENTIFIER_LENGTH,
  MAX_URL_LENGTH,
} from '../../validation.js';

/** Extra information that the page shows with the payment (specification, "Custom field"). */
export class CustomField {
  /** Label, at most 64 characters (C6). */
  @IsLabel(MAX_CUSTOM_FIELD_KEY_LENGTH)
  key: string;

  /** At most 512 characters (C6). */
  @IsLabel(MAX_CUSTOM_FIELD_VALUE_LENGTH)
  value: string;
}

/**
 * A line of the order that the page and the receipt show, as in an invoice. It has at least one of `name`,
 * `productCode` and `sku`.
 */
export interface SessionLineItem {
  /** Friendly name, at most 200 characters. Without a name, the page shows the productCode or the sku. */
  name?: string;
  /** Product identifier, at most 100 characters. */
  productCode?: string;
  /** Stock keeping unit, at most 100 characters. */
  sku?: string;
  /** Price of one unit in whole cents, 0 to 100 000 000 000; text or a number (C1). */
  unitPrice: string | number;
  /** Default 1; fractional for weighed goods, negative for returns and discounts; never 0; at most 1 000 000. */
  quantity?: number;
}

/**
 * Body of `POST /sessions` (specification, "Hosted session request fields"). Unknown fields are ignored (C5). The three
 * URLs (https, allowed hosts) are checked later, because the rules depend on the site.
 */
export class CreateSessionRequest {
  /** Unique identifier of the request and its idempotency key, per site and API version (C7). */
  @IsText(MAX_IDENTIFIER_LENGTH)
  requestId: string;

  /** Merchant's order reference. */
  @IsText(MAX_IDENTIFIER_LENGTH)
  merchantOrderId: string;

  /** Total in cents, 1 to 100 000 000 000 (C1). */
  @IsAmountInCents()
  amount: number;

  /** ISO 4217; only `ZAR` is supported. */
  @Equals('ZAR', { message: '$property must be ZAR, the only supported currency' })
  currencyISOCode: string;

  /** Receives the payment notifications (E1). */
  @IsText(MAX_URL_LENGTH)
  notificationUrl: string;

  /** The browser is redirected here after a successful payment, with parameters appended to the query (H6). */
  @IsText(MAX_URL_LENGTH)
  returnUrl: string;

  /** Target of "back to store", with parameters appended to the query (H6). */
  @IsText(MAX_URL_LENGTH)
  cancelUrl: string;

  /** Site or domain of the request; a bare domain is allowed (H1). */
  @IsText(MAX_URL_LENGTH)
  origin: string;

  /** Name of the site, shown on the page. */
  @IsOptional()
  @IsLabel(MAX_IDENTIFIER_LENGTH)
  siteName?: string;

  /** Shown on the page in this order, at most 20 (C6). */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(MAX_CUSTOM_FIELDS)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => CustomField)
  customFields?: CustomField[];

  /**
   * Lines of the order, at most 500, shown on the page and the receipt (H9). The lines and `shippingAmount`, with or
   * without `taxAmount`, must add up to `amount`. Lines that break a rule are not shown; the request is not refused.
   */
  @Allow()
  lineItems?: SessionLineItem[];

  /** Tax in cents, shown with the lines: included in their prices, or added to them (H9). */
  @Allow()
  taxAmount?: number;

  /** Price of the delivery in cents, shown with the lines (H9). */
  @Allow()
  shippingAmount?: number;

  /**
   * Language of the page, BCP 47, such as `zu-ZA`: English, Afrikaans, isiZulu, isiXhosa or Sesotho. By default, and
   * for other languages, the payer's browser decides (H7).
   */
  @IsOptional()
  @IsLocale()
  locale?: string;
}

/**
 * States of a session (H2). A session can be paid only while it is `open`. All states but `open` and `processing` are
 * final.
 */
export type SessionState = 'open' | 'processing' | 'completed' | 'refused' | 'expired' | 'cancelled';

/** Response of `POST /sessions` (H1). */
export interface CreateSessionResponse {
  sessionId: string;
  /** Redirect the payer's browser here. */
  redirectUrl: string;
  /** The session's current state; only if the requestId was used before (C7). */
  sessionState?: SessionState;
  status: ResponseStatusText;
  errors: HostedError[];
  /** Only in test mode, and only if there are any: parts of the request that probably do not do what was meant. */
  warnings?: HostedWarning[];
}

/** A part of an accepted request that the developer should correct. Write no program that depends on a warning. */
export interface HostedWarning {
  /** Name of the field as it was sent. Absent if the warning concerns no single field. */
  field?: string;
  /** The effect of the field, and the step that corrects it. */
  message: string;
}

/** Response of `GET /sessions/{sessionId}`. */
export interface SessionResponse {
  sessionId: string;
  redirectUrl: string;
  sessionState: SessionState;
  requestId: string;
  merchantOrderId: string;
  /** Cents. */
  amount: number;
  currencyISOCode: string;
  /** ISO 8601 UTC, like the next field. */
  createdUTCDate: string;
  expiresUTCDate: string;
  status: ResponseStatusText;
  errors: HostedError[];
}

/** Error of the hosted gateway: a human-readable text (specification, "Errors"). */
export interface HostedError {
  message: string;
}

/** Body of every error response of the hosted gateway (H1, C5). */
export interface HostedErrorResponse {
  status: ResponseStatusText;
  errors: HostedError[];
}
