import 'reflect-metadata';
import {
  type FeeTerms,
  IsAmountInCents,
  IsLabel,
  MAX_FEE_BASIS_POINTS,
  MAX_FEE_FIXED_AMOUNT,
  MAX_IDENTIFIER_LENGTH,
  type MerchantFeatures,
  type MerchantFees,
  type MerchantGrant,
} from '@svc/contracts';
import { isTimeZone } from '@svc/kernel';
import { PatchBody } from '@svc/service';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsInt,
  IsObject,
  IsOptional,
  IsUUID,
  Max,
  Min,
  ValidateBy,
  ValidateNested,
} from 'class-validator';
import { IfPresent } from '../if-present.js';

const MAX_GRANTS = 100;

/** Body of `POST /admin/v1/merchants`. */
export class CreateMerchantRequest {
  /** Name of the merchant. Payers see the name. 1 to 100 characters (C6). */
  @IsLabel(MAX_IDENTIFIER_LENGTH)
  name: string;

  /** IANA name of the time zone of the merchant's days (M7). Default: `Africa/Johannesburg`. */
  @IfPresent()
  @IsTimeZone()
  timeZone?: string;
}

/** Whether payers may change the amount. */
class AmountFeature {
  @IfPresent()
  @IsBoolean()
  editable?: boolean;
}

/** The label of the order reference, whether payers may change the order reference, and whether it is required. */
class OrderReferenceFeature {
  /** The label that payers see, 1 to 100 characters. */
  @IfPresent()
  @IsLabel(MAX_IDENTIFIER_LENGTH)
  label?: string;

  @IfPresent()
  @IsBoolean()
  editable?: boolean;

  @IfPresent()
  @IsBoolean()
  required?: boolean;
}

/** Whether payers may add a tip. */
class TipFeature {
  @IfPresent()
  @IsBoolean()
  enabled?: boolean;
}

class FeaturesRequest implements MerchantFeatures {
  @IfPresent()
  @IsNestedObject(AmountFeature)
  amount?: AmountFeature;

  @IfPresent()
  @IsNestedObject(OrderReferenceFeature)
  orderReference?: OrderReferenceFeature;

  @IfPresent()
  @IsNestedObject(TipFeature)
  tip?: TipFeature;
}

class GrantRequest implements MerchantGrant {
  @IsUUID('all')
  organisationId: string;

  @IsBoolean()
  vouchers: boolean = false;

  @IsBoolean()
  externalPayments: boolean = false;
}

class FeeTermsRequest implements FeeTerms {
  @IsInt()
  @Min(0)
  @Max(MAX_FEE_BASIS_POINTS)
  basisPoints: number;

  /** Fixed fee for each payment, in cents. */
  @IsInt()
  @Min(0)
  @Max(MAX_FEE_FIXED_AMOUNT)
  fixedAmount: number;
}

class FeesRequest implements MerchantFees {
  @IfPresent()
  @IsNestedObject(FeeTermsRequest)
  test?: FeeTermsRequest;

  @IfPresent()
  @IsNestedObject(FeeTermsRequest)
  live?: FeeTermsRequest;
}

/**
 * Body of `PATCH /admin/v1/merchants/{merchantId}`. Absent fields do not change. Null is only allowed for
 * `maximumAmount`.
 */
@PatchBody()
export class ChangeMerchantRequest {
  @IfPresent()
  @IsLabel(MAX_IDENTIFIER_LENGTH)
  name?: string;

  /** Replaces all features (specification, "Features"). */
  @IfPresent()
  @IsNestedObject(FeaturesRequest)
  features?: FeaturesRequest;

  /**
   * Minimum amount of a payment in cents. It applies if the feature `amount.editable` allows payers to pay less than
   * the invoice (P6).
   */
  @IfPresent()
  @IsAmountInCents()
  minimumAmount?: number;

  /**
   * Maximum amount of a payment in cents, at least the minimum amount. It applies if the feature `amount.editable`
   * allows payers to pay more than the invoice (P6). Null restores the default: ten times the amount due, but at most R
   * 50 000.
   */
  @IsOptional()
  @IsAmountInCents()
  maximumAmount?: number | null;

  /** Replaces all grants (P6). At most 100 grants, and at most one grant for each organisation. */
  @IfPresent()
  @IsArray()
  @ArrayMaxSize(MAX_GRANTS)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => GrantRequest)
  grants?: GrantRequest[];

  /** Replaces the fees of both modes (M5). They apply to payments that are accepted after the change. */
  @IfPresent()
  @IsNestedObject(FeesRequest)
  fees?: FeesRequest;

  /**
   * IANA name of the time zone of the merchant's days (M7). It begins at the end of the merchant's present day, and
   * replaces another zone that has not begun yet.
   */
  @IfPresent()
  @IsTimeZone()
  timeZone?: string;
}

/** Validates a field that is an object of this class. */
function IsNestedObject(type: new () => object): PropertyDecorator {
  return (target, property) => {
    for (const decorate of [IsObject(), ValidateNested(), Type(() => type)]) decorate(target, property);
  };
}

/** The name of a time zone in the IANA database. */
function IsTimeZone(): PropertyDecorator {
  return ValidateBy(
    { name: 'isTimeZone', validator: { validate: isTimeZone } },
    { message: '$property must be the IANA name of a time zone, for example Africa/Johannesburg' },
  );
}
