import { Inject, Injectable } from '@nestjs/common';
import type { Mode } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import type { Transaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import type { PaymentScope } from '../../viewer/payment-scope.js';
import type { RequestMailContent } from './request-mail.js';

/** Mails of a merchant within an hour, in both modes together, so that the console cannot be used for spam. */
export const MAX_MAILS_OF_MERCHANT = 100;
/** Mails of one payment request. */
export const MAX_MAILS_OF_REQUEST = 5;
/** Mails of a merchant to one address within a day. */
export const MAX_MAILS_OF_ADDRESS = 10;
/** Attempts of one mail, about half an hour in all. */
export const MAX_MAIL_ATTEMPTS = 6;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Longer than any payment request. */
const RETENTION_MS = 40 * DAY_MS;
/** Longer than an attempt, which takes at most 10 s. */
const LEASE_MS = 60_000;
const FIRST_BACKOFF_MS = 60_000;

export interface NewRequestMail {
  /** Idempotency key of the form (UUID). */
  readonly mailId: string;
  readonly merchantId: number;
  readonly mode: Mode;
  readonly siteId: number;
  readonly invoiceReference: string;
  readonly recipient: string;
  readonly language: string;
  readonly content: RequestMailContent;
  readonly expiresAt: Date;
}

export type MailState = 'pending' | 'sent' | 'rejected' | 'failed' | 'dropped';

/** The result of a form. `pending`: the server was not available, and more attempts follow. */
export type MailResult = MailState | 'limited';

export interface RequestMailSummary {
  readonly recipient: string;
  readonly state: MailState;
  readonly createdAt: Date;
}

/** A mail that this process sends now. */
export type ClaimedMail = Pick<
  NewRequestMail,
  'mailId' | 'merchantId' | 'mode' | 'siteId' | 'invoiceReference' | 'recipient' | 'language' | 'content'
> & {
  /** With this one. */
  readonly attempts: number;
};

/** $1: now, $2: the end of the lease. A mail that cannot be sent in time or in six attempts ends instead. */
const CLAIM = `
  UPDATE request_mails m
     SET state = next.state, ended_at = CASE WHEN next.state <> 'pending' THEN $1::timestamptz END,
         attempts = CASE WHEN next.state = 'pending' THEN m.attempts + 1 ELSE m.attempts END,
         next_attempt_at = $2
    FROM (SELECT mail_id, CASE WHEN expires_at <= $1 THEN 'dropped' WHEN attempts >= ${MAX_MAIL_ATTEMPTS} THEN 'failed' ELSE 'pending' END AS state
            FROM request_mails
           WHERE state = 'pending' AND next_attempt_at <= $1 AND ($3::uuid IS NULL OR mail_id = $3)
           ORDER BY next_attempt_at LIMIT $4 FOR UPDATE SKIP LOCKED) next
   WHERE m.mail_id = next.mail_id
  RETURNING m.mail_id AS "mailId", m.merchant_id AS "merchantId", m.mode, m.site_id AS "siteId", m.recipient, m.language,
            m.invoice_reference AS "invoiceReference", m.content, m.state, m.attempts`;

/** $10: now, $11 an hour ago, $15 the retention, $16 a day ago; $12 to $14 the limits. */
const INSERT = `
  WITH expired AS (
     DELETE FROM request_mails WHERE mail_id IN (
       SELECT mail_id FROM request_mails WHERE created_at < $15 ORDER BY created_at LIMIT 2 FOR UPDATE SKIP LOCKED)
   )
   INSERT INTO request_mails (mail_id, merchant_id, mode, site_id, invoice_reference, recipient, language, content,
                              expires_at, state, attempts, next_attempt_at, created_at)
   SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, 'pending', 0, $10, $10
    WHERE (SELECT count(*) FROM request_mails WHERE merchant_id = $2 AND created_at > $11) < $12
      AND (SELECT count(*) FROM request_mails WHERE invoice_reference = $5) < $13
      AND (SELECT count(*) FROM request_mails WHERE merchant_id = $2 AND created_at > $16
              AND lower(recipient) = lower($6)) < $14
   ON CONFLICT DO NOTHING RETURNING 1`;

/** The e-mails of payment requests, for all replicas. */
@Injectable()
export class RequestMailRepository {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /**
   * Stores a mail that will be sent. A repeat of the form finds its mail. Also deletes two old rows, so that the table
   * needs no clean-up job.
   *
   * @returns limited if the merchant has sent too many mails; nothing is stored
   */
  async insert(
    tx: Transaction,
    mail: NewRequestMail,
  ): Promise<{ readonly state: MailResult; readonly isNew: boolean }> {
    const now = this.clock.now();
    const ago = (durationMs: number): Date => new Date(now.getTime() - durationMs);
    // Concurrent forms of a merchant are counted one after the other.
    await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`mails of ${mail.merchantId}`]);
    const [existing] = await tx.query<{ state: MailState }[]>(
      'SELECT state FROM request_mails WHERE mail_id = $1 AND merchant_id = $2 AND invoice_reference = $3',
      [mail.mailId, mail.merchantId, mail.invoiceReference],
    );
    if (existing) return { state: existing.state, isNew: false };
    const inserted = await tx.query<unknown[]>(INSERT, [
      ...[mail.mailId, mail.merchantId, mail.mode, mail.siteId, mail.invoiceReference],
      ...[mail.recipient, mail.language, JSON.stringify(mail.content), mail.expiresAt, now],
      ...[ago(HOUR_MS), MAX_MAILS_OF_MERCHANT, MAX_MAILS_OF_REQUEST, MAX_MAILS_OF_ADDRESS],
      ...[ago(RETENTION_MS), ago(DAY_MS)],
    ]);
    return inserted.length > 0 ? { state: 'pending', isNew: true } : { state: 'limited', isNew: false };
  }

  /** Leases due mails to this process, so that no other process sends them too. */
  async claim(limit: number, mailId?: string): Promise<ClaimedMail[]> {
    const parameters = [this.clock.now(), this.clock.later(LEASE_MS), mailId ?? null, limit];
    const [rows] = await this.dataSource.query<[(ClaimedMail & { readonly state: MailState })[], number]>(
      CLAIM,
      parameters,
    );
    return rows.filter(({ state }) => state === 'pending');
  }

  /** @returns false if the lease of this attempt was lost */
  async end({ mailId, attempts }: ClaimedMail, state: Exclude<MailState, 'pending'>): Promise<boolean> {
    const [, count] = await this.dataSource.query<[unknown[], number]>(
      `UPDATE request_mails SET state = $3, ended_at = $4 WHERE mail_id = $1 AND attempts = $2 AND state = 'pending'`,
      [mailId, attempts, state, this.clock.now()],
    );
    return count === 1;
  }

  /** The next attempt comes after a pause that doubles each time. */
  async postpone({ mailId, attempts }: ClaimedMail): Promise<void> {
    await this.dataSource.query(
      `UPDATE request_mails SET next_attempt_at = $3 WHERE mail_id = $1 AND attempts = $2 AND state = 'pending'`,
      [mailId, attempts, this.clock.later(FIRST_BACKOFF_MS * 2 ** (attempts - 1))],
    );
  }

  /** The mails of a payment request, the newest first. */
  list({ merchantId, mode }: PaymentScope, invoiceReference: string): Promise<RequestMailSummary[]> {
    return this.dataSource.query(
      `SELECT recipient, state, created_at AS "createdAt" FROM request_mails
        WHERE invoice_reference = $3 AND merchant_id = $1 AND mode = $2
        ORDER BY created_at DESC LIMIT ${MAX_MAILS_OF_REQUEST}`,
      [merchantId, mode, invoiceReference],
    );
  }
}
