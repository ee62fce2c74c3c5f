import { Inject, Injectable } from '@nestjs/common';
import { Clock, DomainError, invalidField } from '@svc/kernel';
import type { Transaction } from '@svc/persistence';
import { DataSource, type EntityManager } from 'typeorm';
import { CardFingerprints } from '../card-fingerprints.js';
import { counterKey, siteKey } from '../velocity-keys.js';
import { DAY_MS } from '../velocity-limits.js';
import type { CounterSubject } from './counter-subject.js';

/** A counter as administrators see it. It contains no hash. */
export interface CounterView {
  /** Declines that are stored, oldest first: ISO 8601 UTC. */
  readonly declinedUTCDates: string[];
  /** Approvals between these declines. */
  readonly approvals: number;
  readonly inFlight: number;
  /** Approval of the card, after which the declines of the day count from 0. ISO 8601 UTC. */
  readonly resetUTCDate: string | null;
  /** The card must not be tried again, or an administrator has blocked the subject. ISO 8601 UTC. */
  readonly closedUntilUTCDate: string | null;
}

const EMPTY: CounterView = {
  declinedUTCDates: [],
  approvals: 0,
  inFlight: 0,
  resetUTCDate: null,
  closedUntilUTCDate: null,
};

/** Counters that an administrator reads, blocks and releases. */
@Injectable()
export class AdministeredCounterRepository {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(CardFingerprints) private readonly fingerprints: CardFingerprints,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** Throws `resource.not-found` for a payment whose card is not counted, and `request.invalid` for an invalid address. */
  async findKeys(
    subject: CounterSubject,
    connection: Pick<EntityManager, 'query'> = this.dataSource,
  ): Promise<string[]> {
    switch (subject.kind) {
      case 'site':
        return [siteKey(subject.mode, subject.siteId)];
      case 'address': {
        const hash = this.fingerprints.ofAddress(subject.mode, subject.address);
        if (hash === undefined) throw invalidField('address', 'address must be an IP address');
        return [counterKey('address', hash)];
      }
      case 'range': {
        const { mode, owner, range } = subject;
        const prefix = 'siteId' in owner ? `${mode}:${owner.siteId}` : owner.organisationId;
        return [counterKey('range', prefix, this.fingerprints.ofRange(mode, range))];
      }
      case 'card':
        return this.findCardKeys(subject.paymentReference, connection);
    }
  }

  private async findCardKeys(paymentReference: string, connection: Pick<EntityManager, 'query'>): Promise<string[]> {
    const [row] = await connection.query<{ keys: string[] }[]>(
      `SELECT a.velocity_keys AS keys FROM payments p JOIN attempts a ON a.payment_id = p.payment_id
        WHERE p.payment_reference = $1 AND a.velocity_keys IS NOT NULL ORDER BY a.started_at DESC LIMIT 1`,
      [paymentReference],
    );
    if (!row) throw new DomainError('resource.not-found');
    return row.keys.filter((key) => key.startsWith('card:'));
  }

  /** The counter of the first of these keys that has one. */
  async find(
    keys: readonly string[],
    connection: Pick<EntityManager, 'query'> = this.dataSource,
  ): Promise<CounterView> {
    const [row] = await connection.query<CounterRow[]>(
      `SELECT declined_at AS "declinedAt", approvals, cardinality(in_flight) AS "inFlight", reset_at AS "resetAt",
              closed_until AS "closedUntil"
         FROM velocity_counters WHERE counter_key = ANY ($1) ORDER BY array_position($1, counter_key) LIMIT 1`,
      [keys],
    );
    if (!row) return EMPTY;
    return {
      declinedUTCDates: row.declinedAt.map((time) => time.toISOString()).sort(),
      approvals: row.approvals.reduce((sum, count) => sum + count, 0),
      inFlight: row.inFlight,
      resetUTCDate: row.resetAt?.toISOString() ?? null,
      closedUntilUTCDate: row.closedUntil?.toISOString() ?? null,
    };
  }

  /** Forgets all declines and ends a block. Attempts in flight continue to count. */
  async release(tx: Transaction, keys: readonly string[]): Promise<void> {
    await tx.query(
      `UPDATE velocity_counters v SET declined_at = '{}', approvals = '{}', declined_cards = '{}', reset_at = NULL, closed_until = NULL, expires_at = $2
         FROM (SELECT counter_key FROM velocity_counters WHERE counter_key = ANY ($1) ORDER BY counter_key FOR UPDATE) locked
        WHERE v.counter_key = locked.counter_key`,
      [keys, this.clock.later(DAY_MS)],
    );
  }

  async block(tx: Transaction, keys: readonly string[], until: Date): Promise<void> {
    await tx.query(
      `INSERT INTO velocity_counters AS v (counter_key, in_flight, declined_at, approvals, declined_cards, closed_until, expires_at)
       SELECT key, '{}', '{}', '{}', '{}', $2, $2 FROM unnest($1::text[]) AS key ORDER BY key COLLATE "C"
       ON CONFLICT (counter_key) DO UPDATE SET closed_until = excluded.closed_until, expires_at = greatest(v.expires_at, excluded.expires_at)`,
      [keys, until],
    );
  }
}

interface CounterRow {
  readonly declinedAt: Date[];
  readonly approvals: number[];
  readonly inFlight: number;
  readonly resetAt: Date | null;
  readonly closedUntil: Date | null;
}
