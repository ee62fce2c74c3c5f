/** Decrypts the card, reserves the payable, charges, and stores the outcome. */
import { type KeyObject, randomBytes, randomUUID } from 'node:crypto';
import { compactDecrypt } from 'jose';
import { Pool } from 'undici';
import type { Query } from './database.ts';
import type { PaymentSnapshot } from './gateway.ts';

export interface ChargeRequest {
  readonly payable: {
    readonly payableId: string;
    readonly amount: number;
    readonly request: PaymentSnapshot['request'];
  };
  readonly reference: string;
  readonly encryptedCard: string;
}

export class Processor {
  private readonly query: Query;
  private readonly privateKey: KeyObject;
  private readonly acquirer: Pool;
  private readonly onCommit: () => void;

  constructor(query: Query, privateKey: KeyObject, acquirerUrl: string, onCommit: () => void) {
    this.query = query;
    this.privateKey = privateKey;
    this.acquirer = new Pool(acquirerUrl, { connections: 1_000 });
    this.onCommit = onCommit;
  }

  async insertIfAbsent(payables: { payableId: string; amount: number }[]): Promise<void> {
    await this.query(
      'insert payables',
      `INSERT INTO payment_processor.payables SELECT id, amount, 'open', NULL, 1 FROM unnest($1::uuid[], $2::bigint[]) AS p(id, amount)
       ON CONFLICT DO NOTHING`,
      [payables.map(({ payableId }) => payableId), payables.map(({ amount }) => amount)],
    );
  }

  async charge({ payable, reference, encryptedCard }: ChargeRequest): Promise<PaymentSnapshot> {
    const card = await this.decryptCard(encryptedCard, payable.payableId);
    const [paymentId, attemptId] = [randomUUID(), randomUUID()];
    const now = new Date();
    const acceptedPayment: PaymentSnapshot = {
      sessionId: payable.payableId,
      paymentReference: randomBytes(9).toString('hex').toUpperCase(),
      state: 'processing',
      version: 2,
      amount: payable.amount,
      request: payable.request,
      paymentUTCDate: now.toISOString(),
    };
    const reservedRows = await this.query(
      'accept',
      `WITH payable AS (
         INSERT INTO payment_processor.payables AS p VALUES ($1, $2, 'reserved', $3, 2)
         ON CONFLICT (payable_id) DO UPDATE SET state = 'reserved', holder = $3, version = p.version + 1 WHERE p.state = 'open' AND p.amount = $2
         RETURNING payable_id
       ), payment AS (
         INSERT INTO payment_processor.payments SELECT $3, payable_id, $4, $5, 'processing', $2, $6, $6 FROM payable
       ), attempt AS (
         INSERT INTO payment_processor.attempts SELECT $7, $3, 'started', NULL, $6, $8 FROM payable
       ), logged AS (
         INSERT INTO payment_processor.event_log (id, type, payload) SELECT $9, 'payment.processing', $10 FROM payable)
       SELECT payable_id FROM payable`,
      [
        payable.payableId,
        payable.amount,
        paymentId,
        reference,
        acceptedPayment.paymentReference,
        now,
        attemptId,
        new Date(now.getTime() + 2_000),
        randomUUID(),
        acceptedPayment,
      ],
    );
    if (reservedRows.length === 0) throw new Error('The payable is not available.');
    this.onCommit();
    const acquirerReference = await this.callAcquirer(attemptId, acceptedPayment, card.cardNumber);
    const settledPayment: PaymentSnapshot = { ...acceptedPayment, state: 'success', version: 3 };
    await this.query(
      'settle',
      `WITH attempt AS (
         UPDATE payment_processor.attempts SET state = 'approved', acquirer_reference = $2, next_query_at = NULL WHERE attempt_id = $1 AND state = 'started'
         RETURNING payment_id
       ), payment AS (
         UPDATE payment_processor.payments p SET state = 'success', modified_at = $3 FROM attempt WHERE p.payment_id = attempt.payment_id
       ), payable AS (
         UPDATE payment_processor.payables SET state = 'paid', version = 3 FROM attempt WHERE payable_id = $4
       ), transfer AS (
         INSERT INTO payment_processor.transfers SELECT $5, 'acquirer:simulated', 'merchant:1', $6, payment_id, $3, 'capture' FROM attempt
       )
       INSERT INTO payment_processor.event_log (id, type, payload) SELECT $7, 'payment.succeeded', $8 FROM attempt`,
      [
        attemptId,
        acquirerReference,
        new Date(),
        payable.payableId,
        randomUUID(),
        payable.amount,
        randomUUID(),
        settledPayment,
      ],
    );
    this.onCommit();
    return settledPayment;
  }

  private async decryptCard(encryptedCard: string, sessionId: string): Promise<{ cardNumber: string }> {
    const { plaintext } = await compactDecrypt(encryptedCard, this.privateKey);
    const { card, binding } = JSON.parse(Buffer.from(plaintext).toString()) as {
      card: { cardNumber: string };
      binding: { sessionId: string };
    };
    if (binding.sessionId !== sessionId) throw new Error('The card was encrypted for another session.');
    return card;
  }

  private async callAcquirer(
    key: string,
    { paymentReference, amount }: PaymentSnapshot,
    cardNumber: string,
  ): Promise<string> {
    const response = await this.acquirer.request({
      method: 'POST',
      path: '/charges',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        key,
        paymentReference,
        amount,
        currency: 'ZAR',
        cardNumber,
      }),
    });
    const { outcome, acquirerReference } = (await response.body.json()) as {
      outcome: string;
      acquirerReference: string;
    };
    if (outcome !== 'approved') throw new Error(`The acquirer responded ${outcome}.`);
    return acquirerReference;
  }
}
