import { MAX_OPERATOR_INVITATIONS } from '@svc/contracts';
import type { EntityManager } from 'typeorm';
import type { OperatorInvitation } from '../roles/operator.js';

const COLUMNS = `invitation_id AS "invitationId", role AS "operatorRole", email, created_at AS "createdAt",
  expires_at AS "expiresAt"`;

/** Replaces an earlier invitation of the email: its token becomes invalid. */
export async function upsertOperatorInvitation(
  tx: EntityManager,
  { invitationId, operatorRole, email, createdAt, expiresAt }: OperatorInvitation,
  tokenHash: string,
): Promise<void> {
  await tx.query(
    `INSERT INTO operator_invitations (invitation_id, token_hash, role, email, created_at, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (email) DO UPDATE SET invitation_id = excluded.invitation_id, token_hash = excluded.token_hash,
       role = excluded.role, created_at = excluded.created_at, expires_at = excluded.expires_at`,
    [invitationId, tokenHash, operatorRole, email, createdAt, expiresAt],
  );
}

/** Number of valid invitations, without that of this email. */
export async function countOtherOperatorInvitations(tx: EntityManager, email: string, now: Date): Promise<number> {
  const [row] = await tx.query<[{ invitations: number }]>(
    `SELECT count(*) AS invitations FROM operator_invitations WHERE expires_at > $1 AND email <> $2`,
    [now, email],
  );
  return row.invitations;
}

/** The valid invitations, the newest first. */
export function listOperatorInvitations(db: EntityManager, now: Date): Promise<OperatorInvitation[]> {
  return db.query(
    `SELECT ${COLUMNS} FROM operator_invitations WHERE expires_at > $1
      ORDER BY created_at DESC, invitation_id DESC LIMIT ${MAX_OPERATOR_INVITATIONS}`,
    [now],
  );
}

/** Deletes a valid invitation and returns it. */
export async function deleteOperatorInvitation(
  tx: EntityManager,
  invitationId: string,
  now: Date,
): Promise<OperatorInvitation | undefined> {
  const [[invitation]] = await tx.query<[OperatorInvitation[], number]>(
    `DELETE FROM operator_invitations WHERE invitation_id = $1 AND expires_at > $2 RETURNING ${COLUMNS}`,
    [invitationId, now],
  );
  return invitation;
}

/** A valid invitation, by the hash that only the holder of its token can compute. */
export async function findOperatorInvitation(
  db: EntityManager,
  tokenHash: string,
  now: Date,
): Promise<(OperatorInvitation & { readonly personExists: boolean }) | undefined> {
  const [invitation] = await db.query<(OperatorInvitation & { personExists: boolean })[]>(
    `SELECT ${COLUMNS}, EXISTS (SELECT 1 FROM people p WHERE p.email = operator_invitations.email) AS "personExists"
       FROM operator_invitations WHERE token_hash = $1 AND expires_at > $2`,
    [tokenHash, now],
  );
  return invitation;
}

/** Uses an invitation. Of several requests with one token only one gets it. */
export async function consumeOperatorInvitation(
  tx: EntityManager,
  tokenHash: string,
  now: Date,
): Promise<OperatorInvitation | undefined> {
  const [[invitation]] = await tx.query<[OperatorInvitation[], number]>(
    `DELETE FROM operator_invitations WHERE token_hash = $1 AND expires_at > $2 RETURNING ${COLUMNS}`,
    [tokenHash, now],
  );
  return invitation;
}

/** Uses the valid invitation of an email. Only for a sign-in link of development, whose caller is an administrator. */
export async function consumeOperatorInvitationOfEmail(
  tx: EntityManager,
  email: string,
  now: Date,
): Promise<OperatorInvitation[]> {
  const [invitations] = await tx.query<[OperatorInvitation[], number]>(
    `DELETE FROM operator_invitations WHERE email = $1 AND expires_at > $2 RETURNING ${COLUMNS}`,
    [email, now],
  );
  return invitations;
}
