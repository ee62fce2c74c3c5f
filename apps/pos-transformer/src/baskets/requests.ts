import { toLabel } from '@svc/kernel';
import { Transform, Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsObject,
  IsOptional,
  registerDecorator,
  ValidateNested,
} from 'class-validator';
import { MAX_REFERENCE_LENGTH } from './invoice-request.js';

/** Largest amount in cents (C1). */
const MAX_AMOUNT = 100_000_000_000;
const MAX_QUANTITY = 1_000_000;
const MAX_NAME_LENGTH = 200;
const MAX_CODE_LENGTH = 100;
/** Limit for text that is stored but not sent to the platform, such as extra information and reasons. */
const MAX_NOTE_LENGTH = 512;
const MAX_DEDUCTIONS = 500;
/**
 * The limit is far above the 500 lines that a basket may have, because a basket with more than 500 lines must get a
 * STOP (T3), not a validation error.
 */
const MAX_PRODUCTS = 1_500;

/** A validation decorator with the message "<property> must be <description>". */
function MustBe(name: string, description: string, validate: (value: unknown) => boolean): PropertyDecorator {
  return (target, propertyKey) =>
    registerDecorator({
      name,
      target: target.constructor,
      propertyName: propertyKey as string,
      options: { message: `$property must be ${description}` },
      validator: { validate },
    });
}

/** A code that is sent to the platform, which refuses control characters in codes. The code may be empty. */
const IsCode = (max: number): PropertyDecorator =>
  MustBe('isCode', `text of at most ${max} characters without control characters`, (value) => isCode(value, max));
/** A name that is only shown. Its white space and control characters become spaces (T5). The name may be empty. */
const IsName =
  (max: number): PropertyDecorator =>
  (target, propertyKey) => {
    Transform(({ value }: { value: unknown }) => toLabel(value))(target, propertyKey);
    MustBe('isName', `text of at most ${max} characters`, (value) => isCode(value, max))(target, propertyKey);
  };
/** Text that is stored but not sent to the platform. */
const IsNote = (): PropertyDecorator =>
  MustBe(
    'isNote',
    `text of at most ${MAX_NOTE_LENGTH} characters`,
    (value) => typeof value === 'string' && value.length <= MAX_NOTE_LENGTH && value.isWellFormed(),
  );
const IsReference = (): PropertyDecorator =>
  MustBe(
    'isReference',
    `text of 1 to ${MAX_REFERENCE_LENGTH} characters without control characters`,
    (value) => isCode(value, MAX_REFERENCE_LENGTH) && value.trim() !== '',
  );
const IsCents = (): PropertyDecorator =>
  MustBe(
    'isCents',
    `whole cents from 0 to ${MAX_AMOUNT}`,
    (value) => isNumber(value, 0, MAX_AMOUNT) && Number.isInteger(value),
  );
/** The amount due for a basket. It is negative if the store owes the customer money. */
const IsAmountOwed = (): PropertyDecorator =>
  MustBe(
    'isAmountOwed',
    `whole cents from -${MAX_AMOUNT} to ${MAX_AMOUNT}`,
    (value) => isNumber(value, -MAX_AMOUNT, MAX_AMOUNT) && Number.isInteger(value),
  );
/** The total of a line of weighed goods, the only amount that may be fractional (C1). */
const IsLineTotal = (): PropertyDecorator =>
  MustBe('isLineTotal', `a number of cents from -${MAX_AMOUNT} to ${MAX_AMOUNT}`, (value) =>
    isNumber(value, -MAX_AMOUNT, MAX_AMOUNT),
  );
const IsQuantity = (): PropertyDecorator =>
  MustBe('isQuantity', `a number from -${MAX_QUANTITY} to ${MAX_QUANTITY}`, (value) =>
    isNumber(value, -MAX_QUANTITY, MAX_QUANTITY),
  );
const IsLineId = (): PropertyDecorator => MustBe('isLineId', 'a whole number', (value) => Number.isSafeInteger(value));

function isCode(value: unknown, max: number): value is string {
  return (
    typeof value === 'string' &&
    value.length <= max &&
    value.isWellFormed() &&
    !/[\u0000-\u001f\u007f-\u009f]/.test(value)
  );
}

function isNumber(value: unknown, min: number, max: number): value is number {
  return typeof value === 'number' && value >= min && value <= max;
}

/** "Invoice line request" of the specification. Amounts are cents. */
export class LineRequest {
  @IsLineId()
  id: number;

  @IsName(MAX_NAME_LENGTH)
  itemName: string;

  @IsCode(MAX_CODE_LENGTH)
  itemProductCode: string;

  @IsCents()
  itemPrice: number;

  /** 0 removes the line; a negative quantity is a return. */
  @IsQuantity()
  itemQuantity: number;

  @IsLineTotal()
  totalPrice: number;
}

/** "Invoice total request" of the specification. */
export class TotalRequest {
  @IsAmountOwed()
  amount: number;

  @IsReference()
  reference: string;
}

class ProductRequest {
  @IsOptional()
  @IsCode(MAX_CODE_LENGTH)
  ProductCode?: string | null;

  @IsOptional()
  @IsName(MAX_NAME_LENGTH)
  ProductName?: string | null;

  @IsOptional()
  @IsNote()
  ExtraInfo?: string | null;

  @IsCents()
  ActualUnitPrice: number;

  @IsOptional()
  @IsCents()
  OriginalPrice?: number | null;

  @IsOptional()
  @IsNote()
  DiscountReason?: string | null;

  @IsOptional()
  @IsNote()
  DiscountName?: string | null;

  @IsOptional()
  @IsNote()
  DiscountCode?: string | null;

  @IsQuantity()
  Quantity: number;

  @IsOptional()
  @IsBoolean({ message: '$property must be true or false' })
  FullPriced?: boolean | null;
}

class BasketDiscountRequest {
  @IsOptional()
  @IsNote()
  DiscountReason?: string | null;

  @IsOptional()
  @IsNote()
  DiscountName?: string | null;

  @IsOptional()
  @IsNote()
  DiscountCode?: string | null;

  @IsCents()
  DiscountValue: number;
}

class TenderRequest {
  @IsOptional()
  @IsNote()
  TenderReference?: string | null;

  /** Any text (T3). */
  @IsOptional()
  @IsNote()
  TenderType?: string | null;

  @IsOptional()
  @IsNote()
  TenderExtraInfo?: string | null;

  @IsCents()
  TenderValue: number;
}

/** "Basket request" of the specification. */
export class BasketRequest {
  @IsReference()
  MerchantOrderId: string;

  @IsAmountOwed()
  TotalToPay: number;

  @IsOptional()
  @IsArray()
  @ArrayMaxSize(MAX_PRODUCTS)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => ProductRequest)
  Products?: ProductRequest[] | null;

  @IsOptional()
  @IsArray()
  @ArrayMaxSize(MAX_DEDUCTIONS)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => BasketDiscountRequest)
  BasketDiscounts?: BasketDiscountRequest[] | null;

  @IsOptional()
  @IsArray()
  @ArrayMaxSize(MAX_DEDUCTIONS)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => TenderRequest)
  Tenders?: TenderRequest[] | null;
}

/** "Basket closed request" of the specification. */
export class BasketClosedRequest {
  @IsReference()
  MerchantOrderId: string;

  /** `Complete`, `Void` or `Saved`; any other value is a STOP (T12). */
  @IsCode(MAX_CODE_LENGTH)
  OrderStatus: string;
}

/** "Refund request" of the specification, and an optional reference that distinguishes two equal refunds (T10). */
export class RefundRequest {
  @IsReference()
  SvcId: string;

  /** Whole cents above 0; any other number is a STOP (T10). */
  @MustBe('isRefundAmount', 'a number', (value) => typeof value === 'number' && Number.isFinite(value))
  RefundAmount: number;

  @IsOptional()
  @IsReference()
  RefundReference?: string | null;
}
