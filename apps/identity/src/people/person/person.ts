import {
  isText,
  MAX_PASSWORD_LENGTH,
  MAX_PERSON_NAME_LENGTH,
  MIN_PASSWORD_LENGTH,
  type RoleGrant,
  type SecondFactor,
} from '@svc/contracts';
import type { FieldProblem } from '@svc/kernel';

/** Authenticators and browsers show this name beside a second factor. */
export const PRODUCT_NAME = 'Svc Payments';

/** People share one part of the password queue, as the customers of one organisation do. */
export const PEOPLE_QUEUE = 'people';

/** A person who uses the console. The person may have roles at several merchants, which do not see each other. */
export interface Person {
  readonly personId: string;
  /** In the format of `canonicalEmail`. */
  readonly email: string;
  readonly name: string;
}

/** The second factors of a person, and what a sign-in needs to check them. */
export interface PersonFactors {
  readonly hasTotp: boolean;
  readonly hasPasskey: boolean;
}

export function toSecondFactors({ hasTotp, hasPasskey }: PersonFactors): SecondFactor[] {
  return [...(hasTotp ? (['totp'] as const) : []), ...(hasPasskey ? (['passkey'] as const) : [])];
}

/** A grant as a row has it: `siteId` is null for the whole merchant. */
export interface RoleGrantRow extends Omit<RoleGrant, 'siteId'> {
  readonly siteId: number | null;
}

export function toRoleGrant({ merchantId, siteId, role }: RoleGrantRow): RoleGrant {
  return { merchantId, ...(siteId === null ? {} : { siteId }), role };
}

/**
 * Problems of the name and the password of a new person. Passwords have a length and no required kinds of characters,
 * as NIST SP 800-63B recommends. Lengths are counted after NFKC, the form in which the password is hashed.
 */
export function findPersonProblems(email: string, name: string, password: string): FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (!isText(name, MAX_PERSON_NAME_LENGTH))
    problems.push({ field: 'name', message: `name must be text of 1 to ${MAX_PERSON_NAME_LENGTH} characters` });
  const { length } = password.normalize('NFKC');
  if (length < MIN_PASSWORD_LENGTH || length > MAX_PASSWORD_LENGTH || !password.isWellFormed()) {
    const message = `password must have ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters`;
    problems.push({ field: 'password', message });
  } else if ([email, name].some((text) => comparable(text) === comparable(password)))
    problems.push({ field: 'password', message: 'password must be neither the email nor the name' });
  return problems;
}

function comparable(text: string): string {
  return text.normalize('NFKC').trim().toLowerCase();
}
