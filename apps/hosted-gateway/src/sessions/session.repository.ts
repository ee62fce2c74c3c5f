import { Inject, Injectable } from '@nestjs/common';
import {
  type EventEnvelope,
  type HostedPaymentSnapshot,
  type Mode,
  type PayableSnapshot,
  SessionCreatedV1,
  SessionExtendedV1,
  type TimeZonePeriod,
} from '@svc/contracts';
import { DomainError, isOwnCode, isUuid } from '@svc/kernel';
import { EventLog, statementWithEvents } from '@svc/messaging';
import {
  batched,
  type ColumnMap,
  insertedColumns,
  recordColumns,
  recordValues,
  selectedColumns,
} from '@svc/persistence';
import { DataSource } from 'typeorm';
import {
  type PayableTables,
  PaymentCopies,
  selectPayments,
  selectTimeZones,
} from '../payment-copies/payment-copies.repository.js';
import type { HostedSnapshot, PaymentCopy } from '../payment-copies/payment-copy.js';
import { isScanned, isStaticCode, type PayerAddress } from './payer-address.js';
import { describePayable, type Session } from './session.js';

/** The owner of a session. A query with another owner does not find the session. */
export interface SessionOwner {
  readonly merchantId: number;
  readonly siteId: number;
  readonly mode: Mode;
}

const COLUMNS: ColumnMap<keyof Session> = {
  sessionId: ['session_id', 'uuid'],
  code: ['code', 'text'],
  mode: ['mode', 'text'],
  merchantId: ['merchant_id', 'bigint'],
  siteId: ['site_id', 'bigint'],
  merchantName: ['merchant_name', 'text'],
  apiVersion: ['api_version', 'text'],
  requestId: ['request_id', 'text'],
  merchantOrderId: ['merchant_order_id', 'text'],
  amount: ['amount', 'bigint'],
  currencyISOCode: ['currency', 'text'],
  notificationUrl: ['notification_url', 'text'],
  returnUrl: ['return_url', 'text'],
  cancelUrl: ['cancel_url', 'text'],
  origin: ['origin', 'text'],
  siteName: ['site_name', 'text'],
  customFields: ['custom_fields', 'jsonb'],
  basket: ['basket', 'jsonb'],
  locale: ['locale', 'text'],
  createdAt: ['created_at', 'timestamptz'],
  expiresAt: ['expires_at', 'timestamptz'],
  extended: ['extended', 'boolean'],
  payableState: ['payable_state', 'text'],
  payableVersion: ['payable_version', 'bigint'],
  paymentCount: ['payment_count', 'int'],
  traceparent: ['traceparent', 'text'],
};
const TABLES: PayableTables = { payables: 'sessions', payments: 'hosted_payments', id: 'session_id' };
const SELECT = `SELECT ${selectedColumns(COLUMNS)}`;
const SELECT_WITH_PAYMENTS = `${SELECT}, ${selectPayments(TABLES)}, ${selectTimeZones(TABLES)}`;
const MAX_KNOWN_VERSIONS = 10_000;

type HostedPaymentCopy = PaymentCopy<HostedSnapshot>;

export interface SessionWithPayments extends Session {
  /** Newest first. */
  readonly payments: readonly HostedPaymentCopy[];
  /** The time zones of the merchant, in which the page shows times (M7). */
  readonly timeZones: readonly TimeZonePeriod[];
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
  writes: `created AS (
         INSERT INTO sessions (${insertedColumns(COLUMNS)}, fingerprint)
         SELECT ${recordValues(COLUMNS, 'new')}, new.fingerprint
           FROM jsonb_to_recordset($sessions) AS new(${recordColumns(COLUMNS)}, fingerprint text)
         ON CONFLICT ON CONSTRAINT sessions_idempotency DO NOTHING
         RETURNING session_id
       )`,
  changed: 'created',
  aggregateId: 'session_id',
});

/**
 * Extends a session only once, and only if its version is unchanged: then the state and the expiry that the caller read
 * are still current.
 */
const EXTEND_SESSION = statementWithEvents({
  writes: `extension AS (
         UPDATE sessions SET expires_at = $expiresAt, extended = true
          WHERE session_id = $sessionId AND payable_version = $version AND NOT extended
         RETURNING session_id
       )`,
  changed: 'extension',
  aggregateId: 'session_id',
});

/** Looks up each session in the unique index of `column`. LIMIT prevents PostgreSQL from planning a join. */
const buildFindStatement = (column: 'session_id' | 'code', type: 'uuid' | 'text'): string => `
  SELECT requested.position, found.* FROM unnest($1::${type}[]) WITH ORDINALITY AS requested(key, position)
   CROSS JOIN LATERAL (${SELECT_WITH_PAYMENTS} FROM sessions WHERE ${column} = requested.key LIMIT 1) AS found`;
const FIND_BY_ID = buildFindStatement('session_id', 'uuid');
const FIND_BY_CODE = buildFindStatement('code', 'text');

/** Reads and writes sessions and the copies of their payments. No other class writes them. */
@Injectable()
export class SessionRepository {
  private readonly copies: PaymentCopies;
  /**
   * Newest version that this process has stored, by payment reference. Contains only the payments that were stored
   * last.
   */
  private readonly knownVersions = new Map<string, number>();

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(EventLog) private readonly events: EventLog,
  ) {
    this.copies = new PaymentCopies(dataSource, TABLES);
  }

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
  private readonly upsertBatched = batched((payments: readonly HostedPaymentCopy[]) => this.upsertBatch(payments), {
    ...BATCH_OPTIONS,
    key: ({ payable }) => payable.payableId,
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
      `${SELECT}, fingerprint FROM sessions
        WHERE site_id = $1 AND mode = $2 AND api_version = $3 AND request_id = $4 AND merchant_id = $5`,
      [owner.siteId, owner.mode, apiVersion, requestId, owner.merchantId],
    );
    return row;
  }

  /** Throws `resource.not-found` if the owner has no such session. */
  async getOwned(owner: SessionOwner, sessionId: string): Promise<SessionWithPayments> {
    const [session] = isUuid(sessionId)
      ? await this.dataSource.query<SessionWithPayments[]>(
          `${SELECT_WITH_PAYMENTS} FROM sessions
            WHERE session_id = $1 AND merchant_id = $2 AND site_id = $3 AND mode = $4`,
          [sessionId, owner.merchantId, owner.siteId, owner.mode],
        )
      : [];
    if (session) return session;
    throw new DomainError('resource.not-found', {
      message: 'There is no such session of this merchant, site and mode (test or live).',
    });
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

  async findPayment(owner: SessionOwner, paymentReference: string): Promise<HostedPaymentCopy | undefined> {
    const [row] = await this.dataSource.query<{ snapshot: HostedPaymentCopy }[]>(
      `SELECT p.snapshot FROM hosted_payments p JOIN sessions s USING (session_id)
        WHERE p.payment_reference = $1 AND s.merchant_id = $2 AND s.site_id = $3 AND s.mode = $4`,
      [paymentReference, owner.merchantId, owner.siteId, owner.mode],
    );
    return row?.snapshot;
  }

  /** Stores the result of one pay request, as {@link upsertPayments} does. Concurrent calls share a statement. */
  async upsertPayment(payment: HostedPaymentCopy): Promise<void> {
    if (!this.isKnown(payment)) await this.upsertBatched(payment);
  }

  /**
   * Stores the payments that payment-processor reported. Skips versions that this process has already stored: for most
   * payments a process first receives the result as the reply to its own charge command, and then again in two events.
   */
  async upsertPayments(payments: readonly HostedPaymentCopy[]): Promise<void> {
    const newPayments = payments.filter((payment) => !this.isKnown(payment));
    await this.copies.upsert(newPayments);
    for (const payment of newPayments) this.rememberVersion(payment);
  }

  upsertReversals(payments: readonly HostedPaymentSnapshot[]): Promise<void> {
    return this.copies.upsertReversals(payments);
  }

  updatePayable(payable: PayableSnapshot): Promise<void> {
    return this.copies.updatePayable(payable);
  }

  findVersions(sessionIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return this.copies.findVersions(sessionIds);
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

  private async upsertBatch(payments: readonly HostedPaymentCopy[]): Promise<undefined[]> {
    await this.upsertPayments(payments);
    return payments.map(() => undefined);
  }

  private isKnown({ paymentReference, payable }: HostedPaymentCopy): boolean {
    return (this.knownVersions.get(paymentReference) ?? 0) >= payable.version;
  }

  private rememberVersion({ paymentReference, payable }: HostedPaymentCopy): void {
    if (this.knownVersions.size >= MAX_KNOWN_VERSIONS)
      this.knownVersions.delete(this.knownVersions.keys().next().value!);
    this.knownVersions.set(paymentReference, Math.max(payable.version, this.knownVersions.get(paymentReference) ?? 0));
  }
}
