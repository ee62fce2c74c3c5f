import 'reflect-metadata';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  IsUUID,
  Max,
  MaxLength,
  Min,
  ValidateNested,
} from 'class-validator';
import { IsAmountInCents, IsText, MAX_AMOUNT_CENTS, MAX_IDENTIFIER_LENGTH, MAX_URL_LENGTH } from '../../validation.js';

/** Most vouchers of one payment. */
export const MAX_VOUCHERS = 20;
/** Longest code as base64 (D1). */
const CODE_LENGTH_MAX = 2_048;
/** Longest encrypted card that is looked at; a real one has about 700 characters. */
const ENCRYPTED_CARD_LENGTH_MAX = 4_096;
/** A number with blanks is still refused by its field, not by its length. */
const CARD_FIELD_LENGTH_MAX = 40;

/** Who pays (specification, "Customer"). */
export class PaymentCustomerRequest {
  /**
   * The partner's own id of the customer, or the customerReference: kept as sent, and UUIDs compare in either case. With a
   * customer's token only that customer's customerReference; any other is a 403.
   */
  @IsText(MAX_IDENTIFIER_LENGTH)
  id: string;

  @IsOptional()
  @IsText(MAX_IDENTIFIER_LENGTH)
  firstName?: string | null;

  @IsOptional()
  @IsText(MAX_IDENTIFIER_LENGTH)
  lastName?: string | null;
}

/** Part of a payment that a voucher covers. */
export class VoucherRequest {
  /** True: the merchant bears it; false: the service does. */
  @IsBoolean()
  merchantLiable: boolean;

  /** Cents. */
  @IsAmountInCents()
  amount: number;
}

/**
 * A card in one of three forms: `token` of a stored one, `encryptedCard`, or the number in clear inside TLS. What a number
 * must be is checked where cards are opened, so that no message repeats one (P8).
 */
export class CardRequest {
  /** Of `POST /v1/cards`. */
  @IsOptional()
  @IsText(MAX_IDENTIFIER_LENGTH)
  token?: string | null;

  /**
   * Compact JWE to the processor's public key, bound to `<who pays>.<reference>` as its session, and try 1. Who pays is the
   * customerReference with a customer's token, and the organisationId with a service token.
   */
  @IsOptional()
  @IsString()
  @MaxLength(ENCRYPTED_CARD_LENGTH_MAX)
  encryptedCard?: string | null;

  /** 12 to 19 digits. */
  @IsOptional()
  @IsString()
  @MaxLength(CARD_FIELD_LENGTH_MAX)
  cardNumber?: string | null;

  /** 3 or 4 digits. */
  @IsOptional()
  @IsString()
  @MaxLength(CARD_FIELD_LENGTH_MAX)
  cvv?: string | null;

  @IsOptional()
  @IsText(MAX_IDENTIFIER_LENGTH)
  holderName?: string | null;

  /** 1 to 12. */
  @IsOptional()
  @IsInt()
  expiryMonth?: number | null;

  /** Four digits. */
  @IsOptional()
  @IsInt()
  expiryYear?: number | null;
}

/** A payment that was made elsewhere, as the partner says. Service token and a grant of the merchant only. */
export class ExternalPaymentRequest {
  /** What kind of payment it was, e.g. `EFT`; becomes the description of the method. */
  @IsText(MAX_IDENTIFIER_LENGTH)
  type: string;

  @IsIn(['success', 'failed'])
  status: 'success' | 'failed';

  /** The partner's own reference of it. */
  @IsText(MAX_IDENTIFIER_LENGTH)
  reference: string;
}

/** One of the two. */
export class PaymentMethodRequest {
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => CardRequest)
  card?: CardRequest | null;

  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => ExternalPaymentRequest)
  external?: ExternalPaymentRequest | null;
}

/** Body of `POST /v1/payments` (P6). Unknown fields are ignored (C5). */
export class MakePaymentRequest {
  /** UUID of this payment, chosen by the client: a repeat is the same payment (C7). */
  @IsUUID()
  reference: string;

  /** What was scanned, base64 or base64url as for decoding (D1). Either this or `invoiceReference`. */
  @IsOptional()
  @IsString()
  @MaxLength(CODE_LENGTH_MAX)
  code?: string | null;

  /** The invoice's reference (UUID), as decoding gave it. */
  @IsOptional()
  @IsText(MAX_IDENTIFIER_LENGTH)
  invoiceReference?: string | null;

  /** Cents, tip not included. The invoice's, unless the merchant lets it be edited. */
  @IsAmountInCents()
  amount: number;

  /** Cents, 0 to 100 000 000 000; only where the merchant takes tips. */
  @IsOptional()
  @IsInt({ message: `$property must be a whole number of cents from 0 to ${MAX_AMOUNT_CENTS}` })
  @Min(0)
  @Max(MAX_AMOUNT_CENTS)
  tipAmount?: number | null;

  /** Required where the merchant says so. */
  @IsOptional()
  @IsText(MAX_IDENTIFIER_LENGTH)
  orderReference?: string | null;

  /** Service token and a grant of the merchant only; in sum no more than `amount`. */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(MAX_VOUCHERS)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => VoucherRequest)
  vouchers?: VoucherRequest[] | null;

  /** Required with a service token; a customer's token says it by itself. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => PaymentCustomerRequest)
  customer?: PaymentCustomerRequest | null;

  /** Not needed where vouchers cover everything. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => PaymentMethodRequest)
  paymentMethod?: PaymentMethodRequest | null;

  /** Where the bank leads the payer back to after a verification; a page of the service where it is left out. */
  @IsOptional()
  @IsString()
  @MaxLength(MAX_URL_LENGTH)
  returnUrl?: string | null;
}
