import { Inject, Injectable } from '@nestjs/common';
import { DomainError } from '@svc/kernel';
import { inTransaction, type Transaction } from '@svc/persistence';
import { DataSource } from 'typeorm';

/** Receipts of one payment that can be sent, to all addresses together, within {@link KEEP_MS}. */
export const MAX_MAILS_OF_PAYMENT = 3;
/** Receipts that an address gets within a day, of all payments. */
export const MAX_MAILS_OF_ADDRESS = 5;
/** Receipts that the people of a merchant send within an hour, so that test payments cannot be used for spam. */
export const MAX_MAILS_OF_MERCHANT = 100;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const KEEP_MS = 30 * DAY_MS;

export interface NewReceiptMail {
  /** UUID. */
  readonly mailId: string;
  readonly paymentReference: string;
  readonly addressHash: string;
  /** The merchant whose person sends the receipt; undefined if a payer sends it. */
  readonly merchantId: number | undefined;
  readonly now: Date;
}

/** Counts the receipts that were sent by e-mail, for all replicas. */
@Injectable()
export class ReceiptMailRepository {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /**
   * Counts a receipt before it is sent, so that concurrent requests together stay within the limits. `repeated`: the mail
   * was counted before. Also deletes two old rows, so that the table needs no clean-up job.
   *
   * Throws `request.idempotency-conflict` if the id belongs to a mail of another payment or to another address.
   *
   * @param onReserved runs in the same transaction, unless the mail is refused or repeated
   */
  async reserve(
    { mailId, paymentReference, addressHash, merchantId, now }: NewReceiptMail,
    onReserved: (tx: Transaction) => Promise<void> = () => Promise.resolve(),
  ): Promise<'reserved' | 'repeated' | 'limited'> {
    return inTransaction(this.dataSource, async (tx) => {
      // Every transaction takes the locks in this order, so that none waits for another in a circle.
      const subjects = [`receipts of ${paymentReference}`, `receipts to ${addressHash}`];
      if (merchantId !== undefined) subjects.push(`receipts by merchant ${merchantId}`);
      for (const subject of subjects)
        await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [subject]);
      const [earlier] = await tx.query<[{ isSame: boolean }?]>(
        `SELECT payment_reference = $2 AND address_hash = $3 AS "isSame" FROM receipt_mails WHERE mail_id = $1`,
        [mailId, paymentReference, addressHash],
      );
      if (earlier?.isSame === false) throw new DomainError('request.idempotency-conflict');
      if (earlier) return 'repeated';
      const rows = await tx.query<unknown[]>(
        `WITH expired AS (
           DELETE FROM receipt_mails WHERE mail_id IN (
             SELECT mail_id FROM receipt_mails WHERE sent_at < $5 ORDER BY sent_at LIMIT 2 FOR UPDATE SKIP LOCKED)
         )
         INSERT INTO receipt_mails (mail_id, payment_reference, address_hash, sent_at, merchant_id)
         SELECT $1, $2, $3, $4, $9
          WHERE (SELECT count(*) FROM receipt_mails WHERE payment_reference = $2 AND sent_at >= $5) < $7
            AND (SELECT count(*) FROM receipt_mails WHERE address_hash = $3 AND sent_at > $6) < $8
            AND (SELECT count(*) FROM receipt_mails WHERE merchant_id = $9 AND sent_at > $10) < $11
         RETURNING mail_id`,
        [
          mailId,
          paymentReference,
          addressHash,
          now,
          new Date(now.getTime() - KEEP_MS),
          new Date(now.getTime() - DAY_MS),
          MAX_MAILS_OF_PAYMENT,
          MAX_MAILS_OF_ADDRESS,
          merchantId ?? null,
          new Date(now.getTime() - HOUR_MS),
          MAX_MAILS_OF_MERCHANT,
        ],
      );
      if (rows.length === 0) return 'limited';
      await onReserved(tx);
      return 'reserved';
    });
  }

  /** A mail that was not sent does not count. */
  async release(mailId: string): Promise<void> {
    await this.dataSource.query('DELETE FROM receipt_mails WHERE mail_id = $1', [mailId]);
  }
}
