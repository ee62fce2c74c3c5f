import { MAX_SESSIONS_PER_PERSON, OPERATOR_IDLE_MS, type SessionDevice } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import type { EntityManager } from 'typeorm';
import type { Session, SessionWithPerson, SignInMethod } from './session.js';

export interface NewSession {
  readonly sessionId: string;
  readonly tokenHash: string;
  readonly personId: string;
  readonly browser: string;
  readonly method: SignInMethod;
  readonly device: SessionDevice | undefined;
  readonly setUpRequired: boolean;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/**
 * Inserts a session and deletes the oldest sessions of the person over the limit. The caller has locked the person, so
 * that two sign-ins at the same time do not exceed it.
 */
export async function insertSession(tx: EntityManager, session: NewSession): Promise<void> {
  await tx.query(
    `INSERT INTO person_sessions (session_id, token_hash, person_id, browser, method, set_up_required, created_at,
                                  authenticated_at, last_active_at, expires_at, device_name, device_address)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $7, $8, $9, $10)`,
    [
      session.sessionId,
      session.tokenHash,
      session.personId,
      session.browser,
      session.method,
      session.setUpRequired,
      session.createdAt,
      session.expiresAt,
      session.device?.name ?? null,
      session.device?.address ?? null,
    ],
  );
  await tx.query(
    `DELETE FROM person_sessions WHERE person_id = $1 AND session_id IN (
       SELECT session_id FROM person_sessions WHERE person_id = $1
        ORDER BY created_at DESC, session_id DESC OFFSET ${MAX_SESSIONS_PER_PERSON})`,
    [session.personId],
  );
}

const DEVICE = `CASE WHEN device_name IS NULL THEN NULL
  ELSE json_build_object('name', device_name, 'address', device_address) END AS device`;

/** Whether the session s is valid, with the operator o if its person is one. The parameters are those of {@link validAt}. */
const IS_VALID = `s.expires_at > $2 AND (o.person_id IS NULL OR s.last_active_at > $3)`;

function validAt(now: Date): [now: Date, activeAfter: Date] {
  return [now, new Date(now.getTime() - OPERATOR_IDLE_MS)];
}

/** The look-up has no owner, because only the holder of the token can compute the hash. */
export async function findSession(
  db: EntityManager,
  tokenHash: string,
  now: Date,
): Promise<SessionWithPerson | undefined> {
  const [session] = await db.query<SessionWithPerson[]>(
    `SELECT s.session_id AS "sessionId", s.method, ${DEVICE}, s.created_at AS "createdAt", s.expires_at AS "expiresAt",
            s.browser, s.set_up_required AS "setUpRequired", s.authenticated_at AS "authenticatedAt",
            p.person_id AS "personId", p.email, p.name, p.totp_secret IS NOT NULL AS "hasTotp",
            EXISTS (SELECT 1 FROM passkeys k WHERE k.person_id = p.person_id) AS "hasPasskey",
            (SELECT coalesce(json_agg(json_build_object('merchantId', r.merchant_id, 'siteId', r.site_id, 'role', r.role)
                                      ORDER BY r.merchant_id, r.site_id NULLS FIRST), '[]')
               FROM person_roles r WHERE r.person_id = p.person_id) AS roles,
            o.role AS "operatorRole"
       FROM person_sessions s JOIN people p ON p.person_id = s.person_id
       LEFT JOIN operators o ON o.person_id = s.person_id
      WHERE s.token_hash = $1 AND ${IS_VALID}`,
    [tokenHash, ...validAt(now)],
  );
  return session;
}

/** The valid sessions of a person, the newest first. */
export function listSessions(db: EntityManager, personId: string, now: Date): Promise<Session[]> {
  return db.query(
    `SELECT s.session_id AS "sessionId", s.method, ${DEVICE}, s.created_at AS "createdAt", s.expires_at AS "expiresAt"
       FROM person_sessions s LEFT JOIN operators o ON o.person_id = s.person_id
      WHERE s.person_id = $1 AND ${IS_VALID}
      ORDER BY s.created_at DESC, s.session_id DESC LIMIT ${MAX_SESSIONS_PER_PERSON}`,
    [personId, ...validAt(now)],
  );
}

/** Returns whether the person had this session. */
export async function deleteSession(tx: EntityManager, personId: string, sessionId: string): Promise<boolean> {
  const [, deleted] = await tx.query<[unknown, number]>(
    `DELETE FROM person_sessions WHERE person_id = $1 AND session_id = $2`,
    [personId, sessionId],
  );
  return deleted > 0;
}

/** Ends all sessions of a person. */
export async function deleteSessions(tx: EntityManager, personId: string): Promise<void> {
  await tx.query(`DELETE FROM person_sessions WHERE person_id = $1`, [personId]);
}

/** Returns the number of deleted sessions. */
export async function deleteOtherSessions(tx: EntityManager, personId: string, sessionId: string): Promise<number> {
  const [, deleted] = await tx.query<[unknown, number]>(
    `DELETE FROM person_sessions WHERE person_id = $1 AND session_id <> $2`,
    [personId, sessionId],
  );
  return deleted;
}

/** Records an activity, which delays the end of an operator's session. A later activity is kept. */
export async function updateLastActive(
  tx: EntityManager,
  personId: string,
  sessionId: string,
  now: Date,
): Promise<void> {
  await tx.query(
    `UPDATE person_sessions SET last_active_at = $3 WHERE person_id = $1 AND session_id = $2 AND last_active_at < $3`,
    [personId, sessionId, now],
  );
}

/** Returns false if the session has ended meanwhile. */
export async function updateAuthenticated(
  tx: EntityManager,
  personId: string,
  sessionId: string,
  now: Date,
): Promise<boolean> {
  const [, updated] = await tx.query<[unknown, number]>(
    `UPDATE person_sessions SET authenticated_at = $3 WHERE person_id = $1 AND session_id = $2 AND expires_at > $3`,
    [personId, sessionId, now],
  );
  return updated > 0;
}

/**
 * Gives the session its roles, after a second factor was set up in it. Every other session of the person that has no roles
 * ends: it began with the password alone. Throws `authentication.required` if this session has ended since it was checked:
 * a person who had it must not keep a second factor after a reset. The caller has locked the person.
 */
export async function completeSetUp(tx: EntityManager, personId: string, sessionId: string): Promise<void> {
  await tx.query(`DELETE FROM person_sessions WHERE person_id = $1 AND session_id <> $2 AND set_up_required`, [
    personId,
    sessionId,
  ]);
  const [, updated] = await tx.query<[unknown, number]>(
    `UPDATE person_sessions SET set_up_required = false WHERE person_id = $1 AND session_id = $2`,
    [personId, sessionId],
  );
  if (updated === 0) throw new DomainError('authentication.required');
}
