import { isEmail, IsOptional, IsString, MaxLength, MinLength, registerDecorator } from 'class-validator';
import { IsText, isText, MAX_IDENTIFIER_LENGTH } from '../validation.js';

/** Maximum length of an API token in a request; ours have 65 characters. */
const API_TOKEN_LENGTH_MAX = 200;
/** Maximum length of an email address (RFC 5321). */
const EMAIL_LENGTH_MAX = 254;
/** A password has 8 to 128 characters of any kind: composition rules only make people write passwords down. */
const PASSWORD_LENGTH_MIN = 8;
const PASSWORD_LENGTH_MAX = 128;

/** Body of `POST /v1/auth/service/login` (A1). */
export class ServiceLoginRequest {
  /** The partner's API token, as shown at its creation. */
  @IsText(API_TOKEN_LENGTH_MAX)
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
  @MinLength(PASSWORD_LENGTH_MIN)
  @MaxLength(PASSWORD_LENGTH_MAX)
  password: string;

  @IsOptional()
  @IsText(MAX_IDENTIFIER_LENGTH)
  firstName?: string | null;

  @IsOptional()
  @IsText(MAX_IDENTIFIER_LENGTH)
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
  @IsText(EMAIL_LENGTH_MAX)
  email: string;

  @IsString()
  @MaxLength(PASSWORD_LENGTH_MAX)
  password: string;
}

/** Text first: the library's own check throws at a broken surrogate, which would be an error of ours. */
function IsEmailAddress(): PropertyDecorator {
  return (target, propertyKey) =>
    registerDecorator({
      name: 'isEmailAddress',
      target: target.constructor,
      propertyName: propertyKey as string,
      options: { message: `$property must be an email address of at most ${EMAIL_LENGTH_MAX} characters` },
      validator: { validate: (value: unknown) => isText(value, EMAIL_LENGTH_MAX) && isEmail(value) },
    });
}
