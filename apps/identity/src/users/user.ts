import type { Mode } from '@svc/contracts';

/** Whose data a partner's call reads and writes. */
export interface PartnerScope {
  readonly organisationId: string;
  readonly mode: Mode;
}

/** An account of an organisation (A3). */
export interface User {
  readonly userId: string;
  readonly organisationId: string;
  readonly mode: Mode;
  /** As {@link canonicalEmail} writes it. */
  readonly email: string;
  /** argon2id in PHC form. */
  readonly passwordHash: string;
  /** `""` when unknown (P3). */
  readonly firstName: string;
  readonly lastName: string;
  readonly createdAt: Date;
}

/** One account for an address, whatever its case: nobody has two that differ in it. */
export function canonicalEmail(email: string): string {
  return email.trim().normalize('NFKC').toLowerCase();
}
