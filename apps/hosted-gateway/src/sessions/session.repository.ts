import { Inject, Injectable } from '@nestjs/common';
import {
  type EventEnvelope,
  type HostedPaymentSnapshot,
  type Mode,
  type PayableSnapshot,
  type PayableState,
  type PaymentSnapshot,
  SessionCreatedV1,
  SessionExtendedV1,
} from '@svc/contracts';
import { isOwnCode, isUuid } from '@svc/kernel';
import { EventLog, statementWithEvents } from '@svc/messaging';
import { batched } from '@svc/persistence';
import { DataSource, type EntityManager } from 'typeorm';
import { isScanned, isStaticCode, type PayerAddress } from './payer-address.js';
import { describePayable, type Session } from './session.js';

/** The owner of a session. A query with another owner does not find the session. */
export interface SessionOwner {
  readonly merchantId: number;
  readonly siteId: number;
  readonly mode: Mode;
}

const COLUMNS = `session_id AS "sessionId", code, mode, merchant_id AS "merchantId", site_id AS "siteId", merchant_name AS "merchantName",
  api_version AS "apiVersion", request_id AS "requestId", merchant_order_id AS "merchantOrderId", amount, currency AS "currencyISOCode",
  notification_url AS "notificationUrl", return_url AS "returnUrl", cancel_url AS "cancelUrl", origin, site_name AS "siteName",
  custom_fields AS "customFields", created_at AS "createdAt", expires_at AS "expiresAt", payable_state AS "payableState",
  payable_version AS "payableVersion", tries, traceparent, locale, extended`;

/** The fields of a session, or of a till's invoice, that its payments change. */
interface PayableFields {
  readonly payableState: PayableState;
  readonly payableVersion: number;
  readonly tries: number;
  readonly payments: readonly PaymentSnapshot[];
}

/**
 * Applies a payment to a session in memory as {@link SessionRepository.upsertPayments} does in the database: the newest
 * version wins.
 */
export function applyPayment<T extends PayableFields>(session: T, payment: T['payments'][number]): T {
  const { state, version, tries } = payment.payable;
  const isNewer = version > session.payableVersion;
  const others = session.payments.filter(({ paymentReference }) => paymentReference !== payment.paymentReference);
  const previous = session.payments.find(({ paymentReference }) => paymentReference === payment.paymentReference);
  const newest = previous && previous.payable.version >= version ? previous : payment;
  const updated: PayableFields = {
    ...session,
    ...(isNewer ? { payableState: state, payableVersion: version, tries } : {}),
    payments: [newest, ...others].sort((a, b) => b.payable.version - a.payable.version),
  };
  return updated as T;
}

const MAX_KNOWN_VERSIONS = 10_000;

const UPSERT_PAYMENTS = `
  WITH told AS (
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
   WHERE s.session_id = newest.session_id AND s.payable_version < newest.version`;

const PAYMENTS_COLUMN = `ARRAY(SELECT CASE WHEN reversed_at IS NULL THEN snapshot
                              ELSE snapshot || jsonb_build_object('reversedUTCDate', reversed_at) END FROM hosted_payments p WHERE p.session_id = sessions.session_id
                         ORDER BY accepted_at DESC, version DESC LIMIT 100) AS payments`;

export interface SessionWithPayments extends Session {
  /** Newest first. */
  readonly payments: readonly HostedPaymentSnapshot[];
}

/**
 * Runs only one batch at a time, because this needs the fewest statements. A batch does not wait long for the previous
 * batch, because no transaction locks these rows for longer than one statement. (In payment-processor transactions are
 * longer, so more batches run concurrently there.) Measure again before you change a number.
 */
const BATCH_OPTIONS = { maxItems: 50, maxConcurrentBatches: 1 };

interface NewSession {
  readonly session: Session;
  readonly fingerprint: string;
  readonly created: EventEnvelope;
}

const CREATE_SESSIONS = statementWithEvents({
  writes: `made AS (
         INSERT INTO sessions (session_id, mode, merchant_id, site_id, merchant_name, api_version, request_id, fingerprint,
                               merchant_order_id, amount, currency, notification_url, return_url, cancel_url, origin, site_name,
                               custom_fields, created_at, expires_at, payable_state, payable_version, tries, traceparent, code, locale)
         SELECT "sessionId", mode, "merchantId", "siteId", "merchantName", "apiVersion", "requestId", fingerprint,
                "merchantOrderId", amount, "currencyISOCode", "notificationUrl", "returnUrl", "cancelUrl", origin, "siteName",
                "customFields", "createdAt", "expiresAt", "payableState", "payableVersion", 0, traceparent, code, locale
           FROM jsonb_to_recordset($sessions) AS given(
                  "sessionId" uuid, mode text, "merchantId" bigint, "siteId" bigint, "merchantName" text, "apiVersion" text,
                  "requestId" text, fingerprint text, "merchantOrderId" text, amount bigint, "currencyISOCode" text,
                  "notificationUrl" text, "returnUrl" text, "cancelUrl" text, origin text, "siteName" text, "customFields" jsonb,
                  "createdAt" timestamptz, "expiresAt" timestamptz, "payableState" text, "payableVersion" bigint,
                  traceparent text, code text, locale text)
         ON CONFLICT ON CONSTRAINT sessions_idempotency DO NOTHING
         RETURNING session_id
       )`,
  changed: 'made',
  aggregateId: 'session_id',
});

/**
 * Extends a session only once, and only if its version is unchanged: then the state and the expiry that the caller read
 * are still current.
 */
const EXTEND_SESSION = statementWithEvents({
  writes: `longer AS (
         UPDATE sessions SET expires_at = $expiresAt, extended = true
          WHERE session_id = $sessionId AND payable_version = $version AND NOT extended
         RETURNING session_id
       )`,
  changed: 'longer',
  aggregateId: 'session_id',
});

/** Looks up each session in the unique index of `column`. LIMIT prevents PostgreSQL from planning a join. */
const buildFindStatement = (column: 'session_id' | 'code', type: 'uuid' | 'text'): string => `
  SELECT given.position, found.* FROM unnest($1::${type}[]) WITH ORDINALITY AS given(key, position)
   CROSS JOIN LATERAL (SELECT ${COLUMNS}, ${PAYMENTS_COLUMN} FROM sessions WHERE ${column} = given.key LIMIT 1) AS found`;
const FIND_BY_ID = buildFindStatement('session_id', 'uuid');
const FIND_BY_CODE = buildFindStatement('code', 'text');

/** Reads and writes sessions and the copies of their payments. No other class writes them. */
@Injectable()
export class SessionRepository {
  /**
   * Newest version that this process has stored, by payment reference. Contains only the payments that were stored
   * last.
   */
  private readonly knownVersions = new Map<string, number>();

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(EventLog) private readonly events: EventLog,
  ) {}

  /**
   * A batch never contains two requests with the same key. The second request waits for the commit of the first
   * request, and finds its session.
   */
  private readonly insertBatched = batched((sessions: readonly NewSession[]) => this.insertBatch(sessions), {
    ...BATCH_OPTIONS,
    key: ({ session: { siteId, mode, apiVersion, requestId } }) =>
      JSON.stringify([siteId, mode, apiVersion, requestId]),
  });
  private readonly findById = batched((ids: readonly string[]) => this.findBatch(FIND_BY_ID, ids), BATCH_OPTIONS);
  private readonly findByCode = batched(
    (codes: readonly string[]) => this.findBatch(FIND_BY_CODE, codes),
    BATCH_OPTIONS,
  );
  private readonly upsertBatched = batched((payments: readonly HostedPaymentSnapshot[]) => this.upsertBatch(payments), {
    ...BATCH_OPTIONS,
    key: ({ source }) => source.sessionId,
  });

  /** Writes the session and its event in one statement. False if the site has used this requestId before. */
  create(session: Session, fingerprint: string): Promise<boolean> {
    const created = this.events.newEnvelope({
      type: SessionCreatedV1,
      aggregateId: session.sessionId,
      aggregateVersion: 1,
      payload: { payable: describePayable(session) },
    });
    return this.insertBatched({ session, fingerprint, created });
  }

  /**
   * Extends the session and writes the event in one statement. False if it was already extended or has changed since it
   * was read.
   */
  async extend(session: Session, expiresAt: Date): Promise<boolean> {
    const { sessionId, payableVersion: version } = session;
    const extended = this.events.newEnvelope({
      type: SessionExtendedV1,
      aggregateId: sessionId,
      aggregateVersion: 2,
      payload: { payable: describePayable({ ...session, expiresAt }) },
    });
    const parameters = { sessionId, version, expiresAt };
    return (await this.events.write(this.dataSource, EXTEND_SESSION, parameters, [extended])).length > 0;
  }

  /** The session that the site created with this requestId, and the fingerprint of that request. */
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

  /**
   * Finds a session for a payer. Needs no owner, because the address cannot be guessed. Undefined for a malformed
   * address.
   */
  async findByAddress(address: PayerAddress): Promise<SessionWithPayments | undefined> {
    if (!isScanned(address)) return isUuid(address.sessionId) ? this.findById(address.sessionId) : undefined;
    return isOwnCode(address.code) && !isStaticCode(address) ? this.findByCode(address.code) : undefined;
  }

  findWithPayments(sessionId: string): Promise<SessionWithPayments | undefined> {
    return this.findById(sessionId);
  }

  async findOwnedWithPayments(owner: SessionOwner, sessionId: string): Promise<SessionWithPayments | undefined> {
    const [row] = await this.dataSource.query<SessionWithPayments[]>(
      `SELECT ${COLUMNS}, ${PAYMENTS_COLUMN} FROM sessions
        WHERE session_id = $1 AND merchant_id = $2 AND site_id = $3 AND mode = $4`,
      [sessionId, owner.merchantId, owner.siteId, owner.mode],
    );
    return row;
  }

  async findPayment(owner: SessionOwner, paymentReference: string): Promise<HostedPaymentSnapshot | undefined> {
    const [row] = await this.dataSource.query<{ snapshot: HostedPaymentSnapshot }[]>(
      `SELECT p.snapshot FROM hosted_payments p JOIN sessions s USING (session_id)
        WHERE p.payment_reference = $1 AND s.merchant_id = $2 AND s.site_id = $3 AND s.mode = $4`,
      [paymentReference, owner.merchantId, owner.siteId, owner.mode],
    );
    return row?.snapshot;
  }

  /** Stores the result of one pay request, as {@link upsertPayments} does. Concurrent calls share a statement. */
  async upsertPayment(payment: HostedPaymentSnapshot): Promise<void> {
    if (!this.isKnown(payment)) await this.upsertBatched(payment);
  }

  /**
   * Stores the payments that payment-processor reported, in one statement. The newest version of each payment and
   * session wins, so reports may arrive twice, late or out of order. Skips versions that this process has already
   * stored: for most payments a process first receives the result as the reply to its own charge command, and then
   * again in two events.
   *
   * Sorts the sessions by id and the payments by reference, so that two concurrent statements lock common rows in the
   * same order and never deadlock.
   */
  async upsertPayments(payments: readonly HostedPaymentSnapshot[]): Promise<void> {
    const newPayments = payments.filter((payment) => !this.isKnown(payment));
    if (newPayments.length === 0) return;
    const findNewestByKey = (key: (payment: HostedPaymentSnapshot) => string): HostedPaymentSnapshot[] =>
      sortByKey(
        [...new Map([...newPayments].sort(compareVersions).map((payment) => [key(payment), payment])).values()],
        key,
      );
    await this.dataSource.query(UPSERT_PAYMENTS, [
      findNewestByKey(({ paymentReference }) => paymentReference),
      ...payableColumns(findNewestByKey(({ source }) => source.sessionId)),
    ]);
    for (const payment of newPayments) this.rememberVersion(payment);
  }

  /**
   * Stores reversals: the refunds of charges that succeeded too late. Changes no other data of a stored payment. Locks
   * rows in the same order as {@link upsertPayments}.
   */
  async upsertReversals(payments: readonly HostedPaymentSnapshot[]): Promise<void> {
    await this.dataSource.query(
      `INSERT INTO hosted_payments AS kept (payment_reference, session_id, snapshot, accepted_at, version, reversed_at)
       SELECT value->>'paymentReference', (value#>>'{source,sessionId}')::uuid, value - 'reversedUTCDate',
              (value->>'paymentUTCDate')::timestamptz, (value#>>'{payable,version}')::bigint, (value->>'reversedUTCDate')::timestamptz
         FROM unnest($1::jsonb[]) AS value
       ON CONFLICT (payment_reference) DO UPDATE SET reversed_at = excluded.reversed_at`,
      [sortByKey(payments, ({ paymentReference }) => paymentReference)],
    );
  }

  /** Versions of the sessions with open event streams, in one query. */
  async findVersions(sessionIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const rows = await this.dataSource.query<{ id: string; version: number }[]>(
      `SELECT session_id AS id, payable_version AS version FROM sessions WHERE session_id = ANY ($1::uuid[])`,
      [sessionIds],
    );
    return new Map(rows.map(({ id, version }) => [id, version]));
  }

  private async insertBatch(sessions: readonly NewSession[]): Promise<boolean[]> {
    const inserted = await this.events.write(
      this.dataSource,
      CREATE_SESSIONS,
      { sessions: JSON.stringify(sessions.map(({ session, fingerprint }) => ({ ...session, fingerprint }))) },
      sessions.map(({ created }) => created),
    );
    const ids = new Set(inserted.map(({ aggregateId }) => aggregateId));
    return sessions.map(({ session }) => ids.has(session.sessionId));
  }

  private async findBatch(statement: string, keys: readonly string[]): Promise<(SessionWithPayments | undefined)[]> {
    const rows = await this.dataSource.query<(SessionWithPayments & { position: number })[]>(statement, [keys]);
    const found = new Map(rows.map(({ position, ...session }) => [position, session]));
    return keys.map((_, index) => found.get(index + 1));
  }

  private async upsertBatch(payments: readonly HostedPaymentSnapshot[]): Promise<undefined[]> {
    await this.upsertPayments(payments);
    return payments.map(() => undefined);
  }

  private isKnown({ paymentReference, payable }: HostedPaymentSnapshot): boolean {
    return (this.knownVersions.get(paymentReference) ?? 0) >= payable.version;
  }

  private rememberVersion({ paymentReference, payable }: HostedPaymentSnapshot): void {
    if (this.knownVersions.size >= MAX_KNOWN_VERSIONS)
      this.knownVersions.delete(this.knownVersions.keys().next().value!);
    this.knownVersions.set(paymentReference, Math.max(payable.version, this.knownVersions.get(paymentReference) ?? 0));
  }

  /**
   * Stores the new state of a payable that changed without a payment. The newest version wins, as in {@link
   * upsertPayments}.
   */
  async updatePayable(connection: Pick<EntityManager, 'query'>, payable: PayableSnapshot): Promise<void> {
    await connection.query(
      `UPDATE sessions SET payable_state = $2, payable_version = $3, tries = $4 WHERE session_id = $1 AND payable_version < $3`,
      [payable.payableId, payable.state, payable.version, payable.tries],
    );
  }
}

function compareVersions(a: HostedPaymentSnapshot, b: HostedPaymentSnapshot): number {
  return a.payable.version - b.payable.version;
}

function sortByKey(
  payments: readonly HostedPaymentSnapshot[],
  key: (payment: HostedPaymentSnapshot) => string,
): HostedPaymentSnapshot[] {
  return [...payments].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

/**
 * Session ids, states, versions and tries of the payables: one array for each parameter of {@link UPSERT_PAYMENTS}
 * after the first.
 */
function payableColumns(payments: readonly HostedPaymentSnapshot[]): unknown[] {
  return [
    payments.map(({ source }) => source.sessionId),
    payments.map(({ payable }) => payable.state),
    payments.map(({ payable }) => payable.version),
    payments.map(({ payable }) => payable.tries),
  ];
}
