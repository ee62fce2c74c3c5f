import { IsEmailAddress, IsLabel, isText } from '@svc/contracts';
import { merchantUrlProblem } from '@svc/kernel';
import { IsOptional, Matches, registerDecorator } from 'class-validator';
import { type LookSettings, NO_SETTINGS } from './look.js';

const MAX_URL_LENGTH = 500;

/** A URL that a payer may open. The rules are those for all URLs of merchants, also in development only with HTTPS. */
function IsHttpsUrl(): PropertyDecorator {
  const findProblem = (field: string, value: unknown): string | undefined => {
    if (!isText(value, MAX_URL_LENGTH)) return `${field} must be text of 1 to ${MAX_URL_LENGTH} characters`;
    return merchantUrlProblem(field, value, { allowLoopbackHttp: false })?.message;
  };
  return (target, propertyKey) =>
    registerDecorator({
      name: 'isHttpsUrl',
      target: target.constructor,
      propertyName: propertyKey as string,
      validator: {
        validate: (value: unknown) => findProblem('', value) === undefined,
        defaultMessage: (args) => findProblem(args!.property, args!.value) ?? '',
      },
    });
}

/** A setting that is absent is removed: the page then has the look of the platform. */
export class SetLookRequest {
  /** Colour of the button and the links, for example `#0a7d4f`. The text on the button is black or white. */
  @IsOptional()
  @Matches(/^#[0-9A-Fa-f]{6}$/, { message: '$property must be a colour such as #0a7d4f' })
  accentColour?: string;

  /** Shown instead of the merchant's name. */
  @IsOptional()
  @IsLabel(100)
  displayName?: string;

  /** Address for questions of payers. Replies to e-mailed receipts go there. */
  @IsOptional()
  @IsEmailAddress()
  supportEmail?: string;

  /** Telephone number for questions of payers, for example `+27 21 555 0100`. */
  @IsOptional()
  @Matches(/^\+?\d[\d ()-]{3,28}\d$/, { message: '$property must be a telephone number such as +27 21 555 0100' })
  supportPhone?: string;

  /** Page for questions of payers. HTTPS. */
  @IsOptional()
  @IsHttpsUrl()
  supportUrl?: string;

  /** The merchant's terms. HTTPS. */
  @IsOptional()
  @IsHttpsUrl()
  termsUrl?: string;
}

export function toSettings({ accentColour, ...settings }: SetLookRequest): LookSettings {
  const colour = accentColour === undefined ? {} : { accentColour: accentColour.toLowerCase() };
  return { ...NO_SETTINGS, ...settings, ...colour };
}
