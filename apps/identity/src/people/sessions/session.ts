import {
  type OperatorRole,
  type PersonSession,
  type PersonSessionEntry,
  SESSION_MS,
  type SessionDevice,
} from '@svc/contracts';
import { type PersonFactors, type RoleGrantRow, toRoleGrant, toSecondFactors } from '../person/person.js';

/** How a person signed in. */
export type SignInMethod = PersonSessionEntry['method'];

/** A session of a person in one browser. */
export interface Session {
  readonly sessionId: string;
  readonly method: SignInMethod;
  /** null if it is unknown. */
  readonly device: SessionDevice | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** A session with everything that its reader needs about the person. */
export interface SessionWithPerson extends Session, PersonFactors {
  readonly browser: string;
  readonly setUpRequired: boolean;
  readonly authenticatedAt: Date;
  readonly personId: string;
  readonly email: string;
  readonly name: string;
  readonly roles: readonly RoleGrantRow[];
  /** null if the person is no operator of the platform. */
  readonly operatorRole: OperatorRole | null;
}

export function expiresAt(startedAt: Date): Date {
  return new Date(startedAt.getTime() + SESSION_MS);
}

/** A session without a second factor has no roles, so that a password alone gives access to nothing. */
export function toPersonSession(session: SessionWithPerson): PersonSession {
  const { sessionId, personId, name, email, setUpRequired, operatorRole } = session;
  return {
    sessionId,
    personId,
    name,
    email,
    roles: setUpRequired ? [] : session.roles.map(toRoleGrant),
    ...(setUpRequired || operatorRole === null ? {} : { operatorRole }),
    secondFactors: toSecondFactors(session),
    setUpRequired,
    authenticatedUTCDate: session.authenticatedAt.toISOString(),
    startedUTCDate: session.createdAt.toISOString(),
    expiresUTCDate: session.expiresAt.toISOString(),
  };
}

export function toSessionEntry(session: Session, currentSessionId: string): PersonSessionEntry {
  const { sessionId, method, device } = session;
  return {
    sessionId,
    startedUTCDate: session.createdAt.toISOString(),
    expiresUTCDate: session.expiresAt.toISOString(),
    method,
    ...(device === null ? {} : { device }),
    current: sessionId === currentSessionId,
  };
}
