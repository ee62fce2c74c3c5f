import 'reflect-metadata';
import {
  type FeeTerms,
  IsAmountInCents,
  IsText,
  MAX_FEE_BASIS_POINTS,
  MAX_FEE_FIXED_AMOUNT,
  MAX_IDENTIFIER_LENGTH,
  type MerchantFeatures,
  type MerchantFees,
  type MerchantGrant,
} from '@svc/contracts';
import { Type } from 'class-transformer';
import { ArrayMaxSize, IsArray, IsBoolean, IsInt, IsObject, IsUUID, Max, Min, ValidateNested } from 'class-validator';
import { IfPresent } from '../if-present.js';

const MAX_GRANTS = 100;

/** Body of `POST /admin/v1/merchants`. */
export class CreateMerchantRequest {
  /** Shown to payers, 1 to 100 characters (C6). */
  @IsText(MAX_IDENTIFIER_LENGTH)
  name: string;
}

class AmountFeature {
  @IfPresent()
  @IsBoolean()
  editable?: boolean;
}

class OrderReferenceFeature {
  /** 1 to 100 characters. */
  @IfPresent()
  @IsText(MAX_IDENTIFIER_LENGTH)
  label?: string;

  @IfPresent()
  @IsBoolean()
  editable?: boolean;

  @IfPresent()
  @IsBoolean()
  required?: boolean;
}

class TipFeature {
  @IfPresent()
  @IsBoolean()
  enabled?: boolean;
}

class FeaturesRequest implements MerchantFeatures {
  @IfPresent()
  @Member(AmountFeature)
  amount?: AmountFeature;

  @IfPresent()
  @Member(OrderReferenceFeature)
  orderReference?: OrderReferenceFeature;

  @IfPresent()
  @Member(TipFeature)
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

  /** Cents. */
  @IsInt()
  @Min(0)
  @Max(MAX_FEE_FIXED_AMOUNT)
  fixedAmount: number;
}

class FeesRequest implements MerchantFees {
  @IfPresent()
  @Member(FeeTermsRequest)
  test?: FeeTermsRequest;

  @IfPresent()
  @Member(FeeTermsRequest)
  live?: FeeTermsRequest;
}

/** Body of `PATCH /admin/v1/merchants/{merchantId}`: absent fields do not change; null is not allowed. */
export class ChangeMerchantRequest {
  @IfPresent()
  @IsText(MAX_IDENTIFIER_LENGTH)
  name?: string;

  /** Replaces all features (specification, "Features"). */
  @IfPresent()
  @Member(FeaturesRequest)
  features?: FeaturesRequest;

  /** Minimum payment of a larger invoice in cents, with `amount.editable` (P6). */
  @IfPresent()
  @IsAmountInCents()
  minimumAmount?: number;

  /** Replaces the whole list (P6); at most 100, one for each organisation. */
  @IfPresent()
  @IsArray()
  @ArrayMaxSize(MAX_GRANTS)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => GrantRequest)
  grants?: GrantRequest[];

  /** Replaces the fees of both modes (M5), for payments that are accepted from now on. */
  @IfPresent()
  @Member(FeesRequest)
  fees?: FeesRequest;
}

function Member(type: new () => object): PropertyDecorator {
  return (target, property) => {
    for (const decorate of [IsObject(), ValidateNested(), Type(() => type)]) decorate(target, property);
  };
}
