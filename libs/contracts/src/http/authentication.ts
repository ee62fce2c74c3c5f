import { isEmail, IsOptional, IsString, MaxLength, MinLength, registerDecorator } from 'class-validator';
import { IsText, isText, MAX_IDENTIFIER_LENGTH } from '../validation.js';

/** Longest API token that is looked at; ours have 65 characters. */
const API_TOKEN_LENGTH_MAX = 200;
/** Longest address that mail can be sent to (RFC 5321). */
const EMAIL_LENGTH_MAX = 254;
/** A password is anything of 8 to 128 characters: rules of composition only make people write them down. */
const PASSWORD_LENGTH_MIN = 8;
const PASSWORD_LENGTH_MAX = 128;

/** Body of `POST /v1/auth/service/login` (A1). */
export class ServiceLoginRequest {
  /** The partner's API token, as it was shown when it was made. */
  @IsText(API_TOKEN_LENGTH_MAX)
  apiToken: string;

  /** The partner's organisationId (UUID). */
  @IsText(MAX_IDENTIFIER_LENGTH)
  organisationId: string;
}

/** Body of `POST /v1/auth/users` (A3). */
export class CreateUserRequest {
  /** Unique in the organisation, whatever its case. */
  @IsEmailAddress()
  email: string;

  /** 8 to 128 characters, whichever. Kept as argon2id. */
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
  /** A user of the organisation; any other is not found. */
  @IsText(MAX_IDENTIFIER_LENGTH)
  userId: string;
}

/** Body of `POST /v1/auth/customers/login` (A5). Whatever is no user's is refused like a wrong password. */
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
