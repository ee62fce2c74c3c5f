import { DomainError } from '@svc/kernel';
import { isUniqueViolation } from '@svc/persistence';
import type { EntityManager } from 'typeorm';

/** A mail that waits for its next attempt. */
export interface ClaimedMail {
  readonly mailId: string;
  readonly sealedMail: string;
}

interface NewMail {
  readonly mailId: string;
  readonly merchantId: number;
  readonly sealedMail: string;
  readonly dueAt: Date;
  readonly expiresAt: Date;
}

/** Throws `resource.conflict` if there was a mail with this id. */
export async function insertMail(tx: EntityManager, mail: NewMail): Promise<void> {
  await tx
    .query(
      `INSERT INTO mails (mail_id, merchant_id, state, sealed_mail, attempts, due_at, expires_at)
     VALUES ($1, $2, 'waiting', $3, 0, $4, $5)`,
      [mail.mailId, mail.merchantId, mail.sealedMail, mail.dueAt, mail.expiresAt],
    )
    .catch((error: unknown) => {
      if (!isUniqueViolation(error, 'mails_pkey')) throw error;
      throw new DomainError('resource.conflict', { message: 'The form was used already.', cause: error });
    });
}

/** Number of mails of the merchant that have not expired. The caller has locked the merchant. */
export async function countMails(tx: EntityManager, merchantId: number, now: Date): Promise<number> {
  const [row] = await tx.query<[{ mails: number }]>(
    `SELECT count(*) AS mails FROM mails WHERE merchant_id = $1 AND expires_at > $2`,
    [merchantId, now],
  );
  return row.mails;
}

/**
 * Claims the mail that has waited longest, and moves its next attempt: 1 minute after the first one, then twice as long
 * each time, at most 1 hour. Until then no other replica sends it. The look-up has no owner, because one worker sends the
 * mails of all merchants.
 */
export async function claimMail(db: EntityManager, now: Date): Promise<ClaimedMail | undefined> {
  const [[mail]] = await db.query<[ClaimedMail[], number]>(
    `UPDATE mails SET attempts = attempts + 1, due_at = $1 + least(interval '1 minute' * 2 ^ attempts, interval '1 hour')
      WHERE mail_id = (SELECT mail_id FROM mails WHERE state = 'waiting' AND due_at <= $1 AND expires_at > $1
                        ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
     RETURNING mail_id AS "mailId", sealed_mail AS "sealedMail"`,
    [now],
  );
  return mail;
}

/** Records the result. The look-up has no owner, as that of {@link claimMail}. */
export async function completeMail(db: EntityManager, mailId: string, state: 'sent' | 'rejected'): Promise<void> {
  await db.query(`UPDATE mails SET state = $2, sealed_mail = NULL WHERE mail_id = $1`, [mailId, state]);
}

/** Stops the mail of an invitation that was accepted, withdrawn or replaced. */
export async function cancelMail(tx: EntityManager, merchantId: number, mailId: string): Promise<void> {
  await tx.query(
    `UPDATE mails SET state = 'cancelled', sealed_mail = NULL WHERE mail_id = $2 AND merchant_id = $1 AND state = 'waiting'`,
    [merchantId, mailId],
  );
}
