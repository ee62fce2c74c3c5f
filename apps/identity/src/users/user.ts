import type { Mode } from '@svc/contracts';

/** Owner of the data that a partner's request reads and writes. */
export interface PartnerScope {
  readonly organisationId: string;
  readonly mode: Mode;
}

/** An account of an organisation (A3). */
export interface User {
  readonly userId: string;
  readonly organisationId: string;
  readonly mode: Mode;
  /** In the format of {@link canonicalEmail}. */
  readonly email: string;
  /** argon2id in PHC format. */
  readonly passwordHash: string;
  /** `""` when unknown (P3). */
  readonly firstName: string;
  readonly lastName: string;
  readonly createdAt: Date;
}

/** An address has one account, regardless of its case. */
export function canonicalEmail(email: string): string {
  return email.trim().normalize('NFKC').toLowerCase();
}
