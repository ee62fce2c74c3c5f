import { Inject, Injectable } from '@nestjs/common';
import { type Mode, type PayableSnapshot, type PaymentSnapshot, SessionCreatedV1 } from '@svc/contracts';
import { EventLog } from '@svc/messaging';
import { isOwnCode, isUuid } from '@svc/kernel';
import { DataSource, type EntityManager } from 'typeorm';
import { isScanned, type PayerAddress } from './payer-address.js';
import { payableOf, type Session } from './session.js';

/** Whose session it must be to be found at all. */
export interface SessionOwner {
  readonly merchantId: number;
  readonly siteId: number;
  readonly mode: Mode;
}

const COLUMNS = `session_id AS "sessionId", code, mode, merchant_id AS "merchantId", site_id AS "siteId", merchant_name AS "merchantName",
  api_version AS "apiVersion", request_id AS "requestId", merchant_order_id AS "merchantOrderId", amount, currency AS "currencyISOCode",
  notification_url AS "notificationUrl", return_url AS "returnUrl", cancel_url AS "cancelUrl", origin, site_name AS "siteName",
  custom_fields AS "customFields", created_at AS "createdAt", expires_at AS "expiresAt", payable_state AS "payableState",
  payable_version AS "payableVersion", tries, traceparent`;

/** What {@link SessionRepository.keepPayments} makes of a session, for whoever has just read it: the newest stays. */
export function withPayment(session: SessionWithPayments, payment: PaymentSnapshot): SessionWithPayments {
  const { state, version, tries } = payment.payable;
  const isNewer = version > session.payableVersion;
  const others = session.payments.filter(({ paymentReference }) => paymentReference !== payment.paymentReference);
  const kept = session.payments.find(({ paymentReference }) => paymentReference === payment.paymentReference);
  const newest = kept && kept.payable.version >= version ? kept : payment;
  return {
    ...session,
    ...(isNewer ? { payableState: state, payableVersion: version, tries } : {}),
    payments: [newest, ...others].sort((one, other) => other.payable.version - one.payable.version),
  };
}

const KEPT_MAX = 10_000;

const PAYMENTS = `ARRAY(SELECT CASE WHEN reversed_at IS NULL THEN snapshot
                              ELSE snapshot || jsonb_build_object('reversedUTCDate', reversed_at) END FROM hosted_payments p WHERE p.session_id = sessions.session_id
                         ORDER BY accepted_at DESC, version DESC LIMIT 100) AS payments`;

export interface SessionWithPayments extends Session {
  /** Newest first. */
  readonly payments: readonly PaymentSnapshot[];
}

/** The only place that reads and writes sessions and what is known of their payments. */
@Injectable()
export class SessionRepository {
  /** Newest version that this process has committed, by payment reference; the latest payments only. */
  private readonly kept = new Map<string, number>();

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(EventLog) private readonly events: EventLog,
  ) {}

  /** Session and event in one statement, one round trip. False when the site has used this requestId before. */
  async create(session: Session, fingerprint: string): Promise<boolean> {
    const event = this.events.statement('$22', [
      {
        type: SessionCreatedV1,
        aggregateId: session.sessionId,
        aggregateVersion: 1,
        payload: { payable: payableOf(session) },
      },
    ]);
    const made = await this.dataSource.query<unknown[]>(
      `WITH made AS (
         INSERT INTO sessions (session_id, mode, merchant_id, site_id, merchant_name, api_version, request_id, fingerprint,
                               merchant_order_id, amount, currency, notification_url, return_url, cancel_url, origin, site_name,
                               custom_fields, created_at, expires_at, payable_state, payable_version, tries, traceparent, code)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, 0, $23, $24)
         ON CONFLICT ON CONSTRAINT sessions_idempotency DO NOTHING
         RETURNING session_id
       ), logged AS (
         INSERT INTO event_log ${event.columns}
         SELECT event.id, event.type, event.aggregate_id, event.aggregate_version, event.occurred_at, event.traceparent, event.payload
           FROM made, ${event.rows}
       )
       SELECT session_id FROM made`,
      [
        session.sessionId,
        session.mode,
        session.merchantId,
        session.siteId,
        session.merchantName,
        session.apiVersion,
        session.requestId,
        fingerprint,
        session.merchantOrderId,
        session.amount,
        session.currencyISOCode,
        session.notificationUrl,
        session.returnUrl,
        session.cancelUrl,
        session.origin,
        session.siteName,
        JSON.stringify(session.customFields),
        session.createdAt,
        session.expiresAt,
        session.payableState,
        session.payableVersion,
        event.parameter,
        session.traceparent,
        session.code,
      ],
    );
    if (made.length > 0) event.committed();
    return made.length > 0;
  }

  /** The session a site made under this requestId, and the fingerprint of the request that made it. */
  async findByRequestId(
    owner: SessionOwner,
    apiVersion: string,
    requestId: string,
  ): Promise<(Session & { fingerprint: string }) | undefined> {
    const [row] = await this.dataSource.query<(Session & { fingerprint: string })[]>(
      `SELECT ${COLUMNS}, fingerprint FROM sessions
        WHERE site_id = $1 AND mode = $2 AND api_version = $3 AND request_id = $4 AND merchant_id = $5`,
      [owner.siteId, owner.mode, apiVersion, requestId, owner.merchantId],
    );
    return row;
  }

  async findOwned(owner: SessionOwner, sessionId: string): Promise<Session | undefined> {
    const [row] = await this.dataSource.query<Session[]>(
      `SELECT ${COLUMNS} FROM sessions WHERE session_id = $1 AND merchant_id = $2 AND site_id = $3 AND mode = $4`,
      [sessionId, owner.merchantId, owner.siteId, owner.mode],
    );
    return row;
  }

  /** For the payer, who owns nothing but its unguessable address. One that cannot be is of no session. */
  async findAt(address: PayerAddress): Promise<SessionWithPayments | undefined> {
    if (!isScanned(address)) return isUuid(address.sessionId) ? this.findWithPayments(address.sessionId) : undefined;
    if (!isOwnCode(address.code)) return undefined;
    const [row] = await this.dataSource.query<SessionWithPayments[]>(
      `SELECT ${COLUMNS}, ${PAYMENTS} FROM sessions WHERE code = $1`,
      [address.code],
    );
    return row;
  }

  async findWithPayments(sessionId: string): Promise<SessionWithPayments | undefined> {
    const [row] = await this.dataSource.query<SessionWithPayments[]>(
      `SELECT ${COLUMNS}, ${PAYMENTS} FROM sessions WHERE session_id = $1`,
      [sessionId],
    );
    return row;
  }

  async findOwnedWithPayments(owner: SessionOwner, sessionId: string): Promise<SessionWithPayments | undefined> {
    const [row] = await this.dataSource.query<SessionWithPayments[]>(
      `SELECT ${COLUMNS}, ${PAYMENTS} FROM sessions
        WHERE session_id = $1 AND merchant_id = $2 AND site_id = $3 AND mode = $4`,
      [sessionId, owner.merchantId, owner.siteId, owner.mode],
    );
    return row;
  }

  async findPayment(owner: SessionOwner, paymentReference: string): Promise<PaymentSnapshot | undefined> {
    const [row] = await this.dataSource.query<{ snapshot: PaymentSnapshot }[]>(
      `SELECT p.snapshot FROM hosted_payments p JOIN sessions s USING (session_id)
        WHERE p.payment_reference = $1 AND s.merchant_id = $2 AND s.site_id = $3 AND s.mode = $4`,
      [paymentReference, owner.merchantId, owner.siteId, owner.mode],
    );
    return row?.snapshot;
  }

  /**
   * Takes over what payment-processor said of payments, in one statement: each payment and each session keeps the
   * newest version it was told of, so it may be told twice, late or out of order. What is known already is not
   * written again, nor locked: of most payments this process knows first, from the answer to the press of Pay, and hears
   * twice more in events.
   */
  async keepPayments(payments: readonly PaymentSnapshot[]): Promise<void> {
    const news = payments.filter((payment) => !this.isKept(payment));
    if (news.length === 0) return;
    const newestOf = (key: (payment: PaymentSnapshot) => string): PaymentSnapshot[] => [
      ...new Map([...news].sort(byVersion).map((payment) => [key(payment), payment])).values(),
    ];
    await this.dataSource.query(
      `WITH told AS (
         SELECT value AS snapshot, value->>'paymentReference' AS payment_reference, (value#>>'{source,sessionId}')::uuid AS session_id,
                (value->>'paymentUTCDate')::timestamptz AS accepted_at, (value#>>'{payable,version}')::bigint AS version
           FROM unnest($1::jsonb[]) AS value
       ), payment AS (
         INSERT INTO hosted_payments AS kept (payment_reference, session_id, snapshot, accepted_at, version)
         SELECT payment_reference, session_id, snapshot, accepted_at, version FROM told
          WHERE NOT EXISTS (SELECT 1 FROM hosted_payments known
                             WHERE known.payment_reference = told.payment_reference AND known.version >= told.version)
         ON CONFLICT (payment_reference) DO UPDATE SET snapshot = excluded.snapshot, version = excluded.version
          WHERE kept.version < excluded.version
       )
       UPDATE sessions s
          SET payable_state = newest.state, payable_version = newest.version, tries = newest.tries
         FROM unnest($2::uuid[], $3::text[], $4::bigint[], $5::int[]) AS newest(session_id, state, version, tries)
        WHERE s.session_id = newest.session_id AND s.payable_version < newest.version`,
      [newestOf(({ paymentReference }) => paymentReference), ...columnsOf(newestOf(({ source }) => source.sessionId))],
    );
    for (const payment of news) this.remember(payment);
  }

  /** Charges that came too late were given back. Tells nothing of the payment that is not known already, or newer. */
  async keepReversals(payments: readonly PaymentSnapshot[]): Promise<void> {
    await this.dataSource.query(
      `INSERT INTO hosted_payments AS kept (payment_reference, session_id, snapshot, accepted_at, version, reversed_at)
       SELECT value->>'paymentReference', (value#>>'{source,sessionId}')::uuid, value - 'reversedUTCDate',
              (value->>'paymentUTCDate')::timestamptz, (value#>>'{payable,version}')::bigint, (value->>'reversedUTCDate')::timestamptz
         FROM unnest($1::jsonb[]) AS value
       ON CONFLICT (payment_reference) DO UPDATE SET reversed_at = excluded.reversed_at`,
      [payments],
    );
  }

  /** Versions of the sessions that somebody watches, for all of them in one look. */
  async versionsOf(sessionIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const rows = await this.dataSource.query<{ id: string; version: number }[]>(
      `SELECT session_id AS id, payable_version AS version FROM sessions WHERE session_id = ANY ($1::uuid[])`,
      [sessionIds],
    );
    return new Map(rows.map(({ id, version }) => [id, version]));
  }

  private isKept({ paymentReference, payable }: PaymentSnapshot): boolean {
    return (this.kept.get(paymentReference) ?? 0) >= payable.version;
  }

  private remember({ paymentReference, payable }: PaymentSnapshot): void {
    if (this.kept.size >= KEPT_MAX) this.kept.delete(this.kept.keys().next().value!);
    this.kept.set(paymentReference, Math.max(payable.version, this.kept.get(paymentReference) ?? 0));
  }

  /** As {@link keepPayments}, for a payable that changed without a payment. */
  async keepPayable(tx: Pick<EntityManager, 'query'>, payable: PayableSnapshot): Promise<void> {
    await tx.query(
      `UPDATE sessions SET payable_state = $2, payable_version = $3, tries = $4 WHERE session_id = $1 AND payable_version < $3`,
      [payable.payableId, payable.state, payable.version, payable.tries],
    );
  }
}

function byVersion(one: PaymentSnapshot, other: PaymentSnapshot): number {
  return one.payable.version - other.payable.version;
}

/** Session, state, version and tries of the payables, a column each. */
function columnsOf(payments: readonly PaymentSnapshot[]): unknown[] {
  return [
    payments.map(({ source }) => source.sessionId),
    payments.map(({ payable }) => payable.state),
    payments.map(({ payable }) => payable.version),
    payments.map(({ payable }) => payable.tries),
  ];
}
