import type { Mode } from '@svc/contracts';

/** The organisation and mode whose data a partner's request may read and write. */
export interface PartnerScope {
  readonly organisationId: string;
  readonly mode: Mode;
}

/** A user of an organisation (A3). */
export interface User {
  readonly userId: string;
  readonly organisationId: string;
  readonly mode: Mode;
  /** In the format of {@link canonicalEmail}. */
  readonly email: string;
  /** argon2id in PHC format. */
  readonly passwordHash: string;
  /** `""` if unknown (P3). */
  readonly firstName: string;
  readonly lastName: string;
  readonly createdAt: Date;
}

/**
 * Returns the email in the format in which it is stored and compared, so that each address has only one user,
 * regardless of upper and lower case.
 */
export function canonicalEmail(email: string): string {
  return email.trim().normalize('NFKC').toLowerCase();
}
