import { type InvitationEntry, MAX_INVITATIONS_PER_MERCHANT, type PeopleScope, type Role } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { isUniqueViolation } from '@svc/persistence';
import type { EntityManager } from 'typeorm';

export interface Invitation {
  readonly invitationId: string;
  readonly merchantId: number;
  readonly siteId: number | null;
  readonly role: Role;
  readonly email: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

const COLUMNS = `invitation_id AS "invitationId", merchant_id AS "merchantId", site_id AS "siteId", role, email,
  created_at AS "createdAt", expires_at AS "expiresAt"`;

/** The open or expired invitation of the email to exactly this scope. */
export async function findInvitationOfEmail(
  tx: EntityManager,
  { merchantId, siteId }: PeopleScope,
  email: string,
): Promise<Invitation | undefined> {
  const [invitation] = await tx.query<Invitation[]>(
    `SELECT ${COLUMNS} FROM invitations WHERE merchant_id = $1 AND email = $2 AND site_id IS NOT DISTINCT FROM $3`,
    [merchantId, email, siteId ?? null],
  );
  return invitation;
}

/**
 * Replaces an earlier invitation of the email to the same scope: its token becomes invalid. Throws `resource.conflict` if
 * another invitation has this id.
 */
export async function upsertInvitation(tx: EntityManager, invitation: Invitation, tokenHash: string): Promise<void> {
  await tx
    .query(
      `INSERT INTO invitations (invitation_id, token_hash, merchant_id, site_id, role, email, created_at, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
     ON CONFLICT (merchant_id, email, site_id) DO UPDATE SET invitation_id = excluded.invitation_id,
       token_hash = excluded.token_hash, role = excluded.role, created_at = excluded.created_at,
       expires_at = excluded.expires_at`,
      [
        invitation.invitationId,
        tokenHash,
        invitation.merchantId,
        invitation.siteId,
        invitation.role,
        invitation.email,
        invitation.createdAt,
        invitation.expiresAt,
      ],
    )
    .catch((error: unknown) => {
      if (!isUniqueViolation(error, 'invitations_pkey')) throw error;
      throw new DomainError('resource.conflict', { message: 'The form was used already.', cause: error });
    });
}

/** Number of valid invitations of the merchant, without that of this email to the same scope. */
export async function countOtherInvitations(
  tx: EntityManager,
  { merchantId, siteId }: PeopleScope,
  email: string,
  now: Date,
): Promise<number> {
  const [row] = await tx.query<[{ invitations: number }]>(
    `SELECT count(*) AS invitations FROM invitations
      WHERE merchant_id = $1 AND expires_at > $2 AND NOT (email = $3 AND site_id IS NOT DISTINCT FROM $4)`,
    [merchantId, now, email, siteId ?? null],
  );
  return row.invitations;
}

export interface ListedInvitation extends Invitation {
  /** null without a mail. */
  readonly mail: NonNullable<InvitationEntry['mail']> | null;
}

/** The valid invitations of the merchant, or those to one of its sites, the newest first. */
export function listInvitations(
  db: EntityManager,
  { merchantId, siteId }: PeopleScope,
  now: Date,
): Promise<ListedInvitation[]> {
  return db.query(
    `SELECT ${COLUMNS}, (SELECT state FROM mails WHERE mail_id = invitation_id) AS mail FROM invitations
      WHERE merchant_id = $1 AND expires_at > $2 AND ($3::bigint IS NULL OR site_id = $3)
      ORDER BY created_at DESC, invitation_id DESC LIMIT ${MAX_INVITATIONS_PER_MERCHANT}`,
    [merchantId, now, siteId ?? null],
  );
}

/**
 * Deletes an invitation, in the scope or at any site of it, and returns it. Undefined if the scope has no such invitation.
 */
export async function deleteInvitation(
  tx: EntityManager,
  { merchantId, siteId }: PeopleScope,
  invitationId: string,
  now: Date,
): Promise<Invitation | undefined> {
  const [[invitation]] = await tx.query<[Invitation[], number]>(
    `DELETE FROM invitations WHERE merchant_id = $1 AND invitation_id = $2 AND ($3::bigint IS NULL OR site_id = $3)
        AND expires_at > $4
     RETURNING ${COLUMNS}`,
    [merchantId, invitationId, siteId ?? null, now],
  );
  return invitation;
}

/** An invitation with the names that its page shows. */
export interface NamedInvitation extends Invitation {
  readonly merchantName: string;
  readonly siteName: string | null;
  readonly personExists: boolean;
}

// The look-ups below have no owner, because only the holder of the token can compute its hash.

export async function findInvitation(
  db: EntityManager,
  tokenHash: string,
  now: Date,
): Promise<NamedInvitation | undefined> {
  const [invitation] = await db.query<NamedInvitation[]>(
    `SELECT i.invitation_id AS "invitationId", i.merchant_id AS "merchantId", i.site_id AS "siteId", i.role, i.email,
            i.created_at AS "createdAt", i.expires_at AS "expiresAt", m.name AS "merchantName", s.name AS "siteName",
            EXISTS (SELECT 1 FROM people p WHERE p.email = i.email) AS "personExists"
       FROM invitations i JOIN merchants m ON m.merchant_id = i.merchant_id
       LEFT JOIN sites s ON s.merchant_id = i.merchant_id AND s.site_id = i.site_id
      WHERE i.token_hash = $1 AND i.expires_at > $2`,
    [tokenHash, now],
  );
  return invitation;
}

/** Uses an invitation. Of several requests with one token only one gets it. */
export async function consumeInvitation(
  tx: EntityManager,
  tokenHash: string,
  now: Date,
): Promise<Invitation | undefined> {
  const [[invitation]] = await tx.query<[Invitation[], number]>(
    `DELETE FROM invitations WHERE token_hash = $1 AND expires_at > $2 RETURNING ${COLUMNS}`,
    [tokenHash, now],
  );
  return invitation;
}

/** Uses all valid invitations of an email. Only for a sign-in link of development, whose caller is an administrator. */
export async function consumeInvitationsOfEmail(tx: EntityManager, email: string, now: Date): Promise<Invitation[]> {
  const [invitations] = await tx.query<[Invitation[], number]>(
    `DELETE FROM invitations WHERE email = $1 AND expires_at > $2 RETURNING ${COLUMNS}`,
    [email, now],
  );
  return invitations;
}
