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
import {
  IsAmountInCents,
  IsLabel,
  IsText,
  MAX_AMOUNT_CENTS,
  MAX_IDENTIFIER_LENGTH,
  MAX_URL_LENGTH,
} from '../../validation.js';

/** Maximum number of vouchers of a payment. */
const MAX_VOUCHERS = 20;
/** Maximum length of a code as base64 (D1). */
const MAX_CODE_LENGTH = 2_048;
/** Maximum length of an encrypted card. The encrypted card of the SDK has about 700 characters. */
const MAX_ENCRYPTED_CARD_LENGTH = 4_096;
/** Long enough for a card number with spaces, which the later check of the card number refuses. */
const MAX_CARD_FIELD_LENGTH = 40;

/** The payer (specification, "Customer"). */
export class PaymentCustomerRequest {
  /**
   * The partner's own id of the customer, or the customerReference. Stored as sent; UUIDs are compared
   * case-insensitively. With a customer token it must be that customer's customerReference; otherwise 403.
   */
  @IsText(MAX_IDENTIFIER_LENGTH)
  id: string;

  @IsOptional()
  @IsLabel(MAX_IDENTIFIER_LENGTH)
  firstName?: string | null;

  @IsOptional()
  @IsLabel(MAX_IDENTIFIER_LENGTH)
  lastName?: string | null;
}

/** Part of a payment that a voucher covers. */
export class VoucherRequest {
  /** True: the merchant bears the cost; false: the platform does. */
  @IsBoolean()
  merchantLiable: boolean;

  /** Cents. */
  @IsAmountInCents()
  amount: number;
}

/**
 * A card in one of three forms: the `token` of a stored card, `encryptedCard`, or the plain card number over TLS. The
 * number is validated where cards are decrypted, so that no message repeats it (P8).
 */
export class CardRequest {
  /** Token from `POST /v1/cards`. */
  @IsOptional()
  @IsText(MAX_IDENTIFIER_LENGTH)
  token?: string | null;

  /**
   * Compact JWE for the processor's public key. Its `binding.sessionId` must be `<payer>.<reference>`, and its
   * `binding.paymentNumber` must be 1. The payer is the customerReference with a customer token, or the organisationId
   * with a service token.
   */
  @IsOptional()
  @IsString()
  @MaxLength(MAX_ENCRYPTED_CARD_LENGTH)
  encryptedCard?: string | null;

  /** 12 to 19 digits. */
  @IsOptional()
  @IsString()
  @MaxLength(MAX_CARD_FIELD_LENGTH)
  cardNumber?: string | null;

  /** 3 or 4 digits. */
  @IsOptional()
  @IsString()
  @MaxLength(MAX_CARD_FIELD_LENGTH)
  cvv?: string | null;

  @IsOptional()
  @IsLabel(MAX_IDENTIFIER_LENGTH)
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

/** A payment outside the platform, which the partner reports. Requires a service token and a grant of the merchant. */
export class ExternalPaymentRequest {
  /** Kind of the payment, e.g. `EFT`; becomes the description of the method. */
  @IsLabel(MAX_IDENTIFIER_LENGTH)
  type: string;

  @IsIn(['success', 'failed'])
  status: 'success' | 'failed';

  /** The partner's own reference of this payment. */
  @IsText(MAX_IDENTIFIER_LENGTH)
  reference: string;
}

/** Either a card or an external payment. */
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
  /**
   * UUID of this payment, chosen by the client: a repeat returns the same payment (C7).
   * @schema uuid
   */
  @IsUUID()
  reference: string;

  /** The scanned code in base64 or base64url, as for decoding (D1). Send either `code` or `invoiceReference`. */
  @IsOptional()
  @IsString()
  @MaxLength(MAX_CODE_LENGTH)
  code?: string | null;

  /** The invoice's reference (UUID) from decoding. */
  @IsOptional()
  @IsText(MAX_IDENTIFIER_LENGTH)
  invoiceReference?: string | null;

  /** Cents, without the tip. Must be the invoice's amount, unless the merchant allows another amount. */
  @IsAmountInCents()
  amount: number;

  /** Cents, 0 to 100 000 000 000; only if the merchant accepts tips. */
  @IsOptional()
  @IsInt({ message: `$property must be a whole number of cents from 0 to ${MAX_AMOUNT_CENTS}` })
  @Min(0)
  @Max(MAX_AMOUNT_CENTS)
  tipAmount?: number | null;

  /** Required if the merchant's feature `orderReference.required` is true. */
  @IsOptional()
  @IsText(MAX_IDENTIFIER_LENGTH)
  orderReference?: string | null;

  /** Requires a service token and a grant of the merchant; the sum may not exceed `amount`. */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(MAX_VOUCHERS)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => VoucherRequest)
  vouchers?: VoucherRequest[] | null;

  /** Required with a service token. A customer token already identifies the customer. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => PaymentCustomerRequest)
  customer?: PaymentCustomerRequest | null;

  /** Not needed if vouchers cover the whole amount. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => PaymentMethodRequest)
  paymentMethod?: PaymentMethodRequest | null;

  /** The bank redirects the payer here after a verification; default: a page of the platform. */
  @IsOptional()
  @IsString()
  @MaxLength(MAX_URL_LENGTH)
  returnUrl?: string | null;
}
