import { randomUUID } from 'node:crypto';
import {
  type HostedPaymentSnapshot,
  ListReportedPaymentsV1,
  ListRetrievalV1,
  PaymentProcessorAdministeredV1,
  type ReportedPayment,
} from '@svc/contracts';
import { Restores } from '@svc/messaging';
import { httpClient } from '@svc/testing';
import { RestoreGate } from '../src/restore-gate/restore-gate.js';
import { type Processor, startProcessor } from './processor.js';

const ADMIN_KEY = 'an administration key for tests 1';

/** A service whose database is restored to a time before the payments that a test forgets. */
export interface RestoredProcessor extends Processor {
  /** The copies of payments that hosted-gateway has. */
  readonly reports: ReportedPayment[];
  /** References of the payments that merchant-retrieval has as successes. */
  readonly readByMerchant: Set<string>;
  /** Deletes a payment with all that belongs to it, and opens its payable again. */
  forget(payment: HostedPaymentSnapshot): Promise<void>;
  /** Deletes the refunds of a payment. */
  forgetRefunds(payment: HostedPaymentSnapshot): Promise<void>;
  /** Records a restore and prepares the service, as a script and the next start do. Returns the id of the restore. */
  restore(options?: { readonly isReplayed?: boolean }): Promise<string>;
  administer(method: 'GET' | 'POST', path: string, body?: object): ReturnType<ReturnType<typeof httpClient>>;
  /** Actions of administrators, for the audit log. */
  actions(): Promise<string[]>;
}

export async function startRestoredProcessor(): Promise<RestoredProcessor> {
  const processor = await startProcessor({ SVC_ADMIN_KEY: ADMIN_KEY });
  const { broker, superuser, service, clock } = processor;
  const reports: ReportedPayment[] = [];
  const readByMerchant = new Set<string>();
  const respond = (name: string, reply: (payload: never) => object) =>
    broker.respond(name, (payload) => Promise.resolve({ ok: true, reply: reply(payload as never) }));
  await respond(ListReportedPaymentsV1.name, ({ paymentReferences }: { paymentReferences: string[] }) => ({
    payments: reports.filter(({ paymentReference }) => paymentReferences.includes(paymentReference)),
  }));
  await respond(ListRetrievalV1.name, ({ after }: { after: string }) => ({
    lines: [...readByMerchant]
      .filter((key) => key > after)
      .map((key) => ({ key, amount: 1, open: false, line: { status: 1 } })),
  }));
  /** As in another database: without the triggers that make rows append-only. */
  const rewrite = async (...statements: [string, unknown[]][]): Promise<void> => {
    const client = await superuser.connect();
    try {
      await client.query(`SET session_replication_role = 'replica'`);
      for (const [statement, parameters] of statements) await client.query(statement, parameters);
    } finally {
      client.release(true);
    }
  };
  const ofPayment = `payment_id = (SELECT payment_id FROM payments WHERE payment_reference = $1)`;
  return {
    ...processor,
    ...{ reports, readByMerchant },
    forget: ({ paymentReference, payable }) =>
      rewrite(
        ...['transfers', 'refunds', 'attempts', 'payments'].map((table): [string, unknown[]] => [
          `DELETE FROM ${table} WHERE ${ofPayment}`,
          [paymentReference],
        ]),
        [`DELETE FROM event_log WHERE payload ->> 'paymentReference' = $1`, [paymentReference]],
        [
          `UPDATE payables SET state = 'open', holder = NULL, payment_count = 0, version = 1 WHERE payable_id = $1`,
          [payable.payableId],
        ],
      ),
    forgetRefunds: ({ paymentReference }) =>
      rewrite(
        [`DELETE FROM transfers WHERE refund_id IS NOT NULL AND ${ofPayment}`, [paymentReference]],
        [`DELETE FROM refund_idempotency_keys WHERE merchant_id > $1`, [0]],
        [`DELETE FROM refunds WHERE ${ofPayment}`, [paymentReference]],
        [`UPDATE payments SET refunded_amount = 0 WHERE payment_reference = $1`, [paymentReference]],
      ),
    restore: async ({ isReplayed = true } = {}) => {
      const restoreId = randomUUID();
      const at = clock.now();
      await superuser.query(
        `INSERT INTO restores (restore_id, restored_to, marked_at, replays_requested_at, replayed_at) VALUES ($1, $2, $2, $2, $3)`,
        [restoreId, at, isReplayed ? at : null],
      );
      // This process has seen before that no restore is open.
      Object.assign(service.app.get(Restores), { isOpen: true });
      await service.app.get(RestoreGate).onModuleInit();
      return restoreId;
    },
    administer: (method, path, body) =>
      httpClient(service, { 'x-admin-key': ADMIN_KEY })(method, `/admin/v1/restores${path}`, body),
    actions: async () =>
      (await processor.published(PaymentProcessorAdministeredV1)).map(({ payload }) => payload.action),
  };
}

/** The copy of a payment that hosted-gateway has. */
export function reportOf(payment: HostedPaymentSnapshot): ReportedPayment {
  const { paymentReference, reference, mode, merchantId, siteId, invoicedAmount, currencyISOCode } = payment;
  const { amount, tipAmount, paymentMethodLabel, paymentUTCDate, payable } = payment;
  const { payableId, version: payableVersion, paymentCount } = payable;
  return {
    ...{ paymentReference, reference, mode, merchantId, siteId, invoicedAmount, currencyISOCode },
    ...{ amount, tipAmount, paymentMethodLabel, paymentUTCDate, payableId, payableVersion, paymentCount },
  };
}
