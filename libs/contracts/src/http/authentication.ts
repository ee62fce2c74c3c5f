import { isEmail, IsOptional, IsString, MaxLength, MinLength, registerDecorator } from 'class-validator';
import { IsLabel, IsText, isText, MAX_IDENTIFIER_LENGTH } from '../validation.js';

/** Maximum length of an API token in a request. The tokens of the platform have 65 characters. */
const MAX_API_TOKEN_LENGTH = 200;
/** Maximum length of an email address (RFC 5321). */
export const MAX_EMAIL_LENGTH = 254;
/**
 * A password has 8 to 128 characters of any kind. There are no composition rules, because they make people write
 * passwords down.
 */
const MIN_PASSWORD_LENGTH = 8;
const MAX_PASSWORD_LENGTH = 128;

/** Body of `POST /v1/auth/service/login` (A1). */
export class ServiceLoginRequest {
  /** The partner's API token, as shown at its creation. */
  @IsText(MAX_API_TOKEN_LENGTH)
  apiToken: string;

  /** The partner's organisationId (UUID). */
  @IsText(MAX_IDENTIFIER_LENGTH)
  organisationId: string;
}

/** Body of `POST /v1/auth/users` (A3). */
export class CreateUserRequest {
  /** Unique in the organisation, case-insensitive. */
  @IsEmailAddress()
  email: string;

  /** 8 to 128 characters. Stored as an argon2id hash. */
  @IsString()
  @MinLength(MIN_PASSWORD_LENGTH)
  @MaxLength(MAX_PASSWORD_LENGTH)
  password: string;

  @IsOptional()
  @IsLabel(MAX_IDENTIFIER_LENGTH)
  firstName?: string | null;

  @IsOptional()
  @IsLabel(MAX_IDENTIFIER_LENGTH)
  lastName?: string | null;
}

/** Body of `POST /v1/auth/customers/register` (A4). */
export class RegisterCustomerRequest {
  /** A user of the organisation; otherwise 404. */
  @IsText(MAX_IDENTIFIER_LENGTH)
  userId: string;
}

/** Body of `POST /v1/auth/customers/login` (A5). An unknown email gets the same error as a wrong password. */
export class CustomerLoginRequest {
  @IsText(MAX_EMAIL_LENGTH)
  email: string;

  @IsString()
  @MaxLength(MAX_PASSWORD_LENGTH)
  password: string;
}

/**
 * Whether the value is an email address. Checks isText() first, because isEmail() of class-validator throws for a lone
 * surrogate.
 */
export function isEmailAddress(value: unknown): value is string {
  return isText(value, MAX_EMAIL_LENGTH) && isEmail(value);
}

export function IsEmailAddress(): PropertyDecorator {
  return (target, propertyKey) =>
    registerDecorator({
      name: 'isEmailAddress',
      target: target.constructor,
      propertyName: propertyKey as string,
      options: { message: `$property must be an email address of at most ${MAX_EMAIL_LENGTH} characters` },
      validator: { validate: isEmailAddress },
    });
}
