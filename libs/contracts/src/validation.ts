import { Transform } from 'class-transformer';
import { registerDecorator, type ValidationOptions } from 'class-validator';

/** Largest amount of money in one request: 100 000 000 000 cents (C1). */
export const MAX_AMOUNT_CENTS = 100_000_000_000;
/** Maximum length of an identifier chosen by a client (C6). */
export const MAX_IDENTIFIER_LENGTH = 100;
/** Maximum length of a URL (C6). */
export const MAX_URL_LENGTH = 2048;
/** Maximum length of a language tag. */
export const MAX_LOCALE_LENGTH = 35;
export const MAX_CUSTOM_FIELDS = 20;
export const MAX_CUSTOM_FIELD_KEY_LENGTH = 64;
export const MAX_CUSTOM_FIELD_VALUE_LENGTH = 512;

/**
 * Text from a person or a system: 1 to `maxLength` characters, not only white space. Control characters and lone
 * surrogates are refused: PostgreSQL cannot store U+0000, and UTF-8 encoding changes a lone surrogate, so that the body
 * of a repeat would differ from the stored body.
 */
export function IsText(maxLength: number, options?: ValidationOptions): PropertyDecorator {
  return (target, propertyKey) =>
    registerDecorator({
      name: 'isText',
      target: target.constructor,
      propertyName: propertyKey as string,
      options: {
        message: `$property must be text of 1 to ${maxLength} characters without control characters`,
        ...options,
      },
      validator: { validate: (value: unknown) => isText(value, maxLength) },
    });
}

export function isText(value: unknown, maxLength: number): value is string {
  return (
    typeof value === 'string' &&
    value.trim().length > 0 &&
    value.length <= maxLength &&
    value.isWellFormed() &&
    !/[\u0000-\u001f\u007f-\u009f]/.test(value)
  );
}

/**
 * Text that is only shown, such as the name of a product. Each control character and each other white space becomes a
 * space, because a tab in a name must not stop a payment. Identifiers are compared, so they use {@link IsText}.
 */
export function IsLabel(maxLength: number, options?: ValidationOptions): PropertyDecorator {
  const message = `$property must be text of 1 to ${maxLength} characters`;
  return (target, propertyKey) => {
    Transform(({ value }: { value: unknown }) => toLabel(value))(target, propertyKey);
    IsText(maxLength, { message, ...options })(target, propertyKey);
  };
}

/** Replaces white space and control characters by spaces, also in each text of a list. Other values stay unchanged. */
export function toLabel<T>(value: T): T {
  if (Array.isArray(value)) return value.map((each: unknown) => toLabel(each)) as T;
  return typeof value === 'string' ? (value.replace(/[\s\u0000-\u001f\u007f-\u009f]/g, ' ') as T) : value;
}

/**
 * A language tag of BCP 47 such as `zu-ZA`, at most {@link MAX_LOCALE_LENGTH} characters. The language need not be
 * supported.
 */
export function IsLocale(options?: ValidationOptions): PropertyDecorator {
  return (target, propertyKey) =>
    registerDecorator({
      name: 'isLocale',
      target: target.constructor,
      propertyName: propertyKey as string,
      options: { message: '$property must be a BCP 47 language tag such as zu-ZA', ...options },
      validator: { validate: isLocale },
    });
}

export function isLocale(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > MAX_LOCALE_LENGTH) return false;
  try {
    return Intl.getCanonicalLocales(value).length === 1;
  } catch {
    return false;
  }
}

/** A whole number of cents between 1 and {@link MAX_AMOUNT_CENTS}; a number, never text (C1: no coercion). */
export function IsAmountInCents(options?: ValidationOptions): PropertyDecorator {
  return (target, propertyKey) =>
    registerDecorator({
      name: 'isAmountInCents',
      target: target.constructor,
      propertyName: propertyKey as string,
      options: { message: `$property must be a whole number of cents from 1 to ${MAX_AMOUNT_CENTS}`, ...options },
      validator: { validate: isAmountInCents },
    });
}

export function isAmountInCents(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 && value <= MAX_AMOUNT_CENTS;
}
