import type { OperatorRole } from '@svc/contracts';
import type { Person, PersonFactors } from '../person/person.js';

/** A person who operates the platform. The role gives no rights at merchants. */
export interface Operator {
  readonly personId: string;
  readonly role: OperatorRole;
}

export interface ListedOperator extends Person, PersonFactors {
  readonly role: OperatorRole;
  readonly lastSignInAt: Date | null;
}

export interface OperatorInvitation {
  readonly invitationId: string;
  readonly operatorRole: OperatorRole;
  readonly email: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}
