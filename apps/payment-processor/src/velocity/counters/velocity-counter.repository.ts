import { Inject, Injectable } from '@nestjs/common';
import type { Mode } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { namedStatement } from '@svc/persistence';
import { DataSource } from 'typeorm';
import type { PaymentChecks } from '../velocity-checks.js';
import { scopeOf } from '../velocity-keys.js';
import type { VelocityScope } from '../velocity-limits.js';
import { attackLevelOf, COUNTED_FIRST, countInFlight, FIND_REFUSED_CHECK, isCounted } from './count-in-flight.query.js';
import { endInFlight, lockCounters, LOCKED_FIRST, type VelocityEnd } from './end-in-flight.query.js';

/** Counters outside the statements that accept and settle payments. */
@Injectable()
export class VelocityCounterRepository {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** Removes a payment from all counters, unless it is in flight, because another request of it was accepted. */
  async free({ paymentId, keys }: PaymentChecks): Promise<void> {
    await this.dataSource.query(FREE.text, FREE.valuesOf({ paymentId, keys }));
  }

  /** Counts a check of a card that is no payment. False if a limit refuses it, or if it is not counted in all counters. */
  async count({ paymentId, checks }: PaymentChecks): Promise<boolean> {
    const values = COUNT.valuesOf({ paymentId, checks: JSON.stringify(checks) });
    const [row] = await this.dataSource.query<[{ isCounted: boolean }]>(COUNT.text, values);
    return row.isCounted;
  }

  /** The end of a check that is no payment. */
  async end(end: VelocityEnd): Promise<void> {
    const values = END.valuesOf({ paymentId: end.paymentId, velocity: JSON.stringify(end), now: this.clock.now() });
    await this.dataSource.query(END.text, values);
  }

  /** The scope of a limit that refuses an attempt, or undefined if none does now. */
  async findRefusal(
    { checks }: PaymentChecks,
    { mode, siteId = null }: { readonly mode: Mode; readonly siteId?: number | null },
  ): Promise<VelocityScope | undefined> {
    const now = this.clock.now();
    const values = FIND_REFUSAL.valuesOf({ mode, siteId, checks: JSON.stringify(checks), now });
    const [refused] = await this.dataSource.query<{ key: string }[]>(FIND_REFUSAL.text, values);
    return refused && scopeOf(refused.key);
  }

  /**
   * Deletes expired counters among the next ones after a key, and removes the keys of attempts that no counter needs any
   * more. Returns the last key that was read, or undefined after the last counter.
   */
  async deleteExpired(afterKey: string, limit: number): Promise<string | undefined> {
    const rows = await this.dataSource.query<{ key: string | null }[]>(DELETE_EXPIRED, [
      afterKey,
      this.clock.now(),
      limit,
    ]);
    return rows[0]?.key ?? undefined;
  }

  /** Returns the number of attempts. */
  async forgetKeys(endedBefore: Date, limit: number): Promise<number> {
    const [, count] = await this.dataSource.query<[unknown[], number]>(
      `UPDATE attempts SET velocity_keys = NULL
        WHERE attempt_id IN (SELECT attempt_id FROM attempts
                              WHERE velocity_keys IS NOT NULL AND ended_at IS NOT NULL AND ended_at <= $1
                              ORDER BY ended_at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
      [endedBefore, limit],
    );
    return count;
  }
}

const FREE = namedStatement(`UPDATE velocity_counters v SET in_flight = array_remove(v.in_flight, $paymentId::uuid)
   FROM (SELECT counter_key FROM velocity_counters WHERE counter_key = ANY ($keys) AND $paymentId::uuid = ANY (in_flight)
          ORDER BY counter_key FOR UPDATE) counted
  WHERE v.counter_key = counted.counter_key
    AND NOT EXISTS (SELECT FROM payments p WHERE p.payment_id = $paymentId::uuid
                       AND (p.state = 'processing' OR (p.state = 'verificationRequired'
                            AND EXISTS (SELECT FROM attempts a WHERE a.payment_id = p.payment_id))))`);

const COUNT = namedStatement(`WITH item AS (
         SELECT $paymentId::uuid AS "paymentId", $checks::jsonb AS checks, true AS "isAvailable", 0 AS "attackLevel"
       ), ${countInFlight('item')}
       SELECT ${isCounted('item')} AS "isCounted" FROM item CROSS JOIN ${COUNTED_FIRST}`);

const END = namedStatement(`WITH item AS (SELECT $velocity::jsonb AS velocity), ${lockCounters('item')}, target AS (
         SELECT $paymentId::uuid AS payment_id, $now::timestamptz AS ended_at FROM ${LOCKED_FIRST}
       ), ${endInFlight('target')} SELECT`);

const FIND_REFUSAL = namedStatement(`WITH item AS (
         SELECT $checks::jsonb AS checks, ${attackLevelOf('$mode::text', '$siteId::bigint', '$now::timestamptz')} AS "attackLevel"
       ) ${FIND_REFUSED_CHECK}`);

/** A counter that another transaction has locked is in use, and so not expired. */
const DELETE_EXPIRED = `WITH page AS (
         SELECT counter_key, expires_at FROM velocity_counters WHERE counter_key > $1 COLLATE "C" ORDER BY counter_key LIMIT $3
       ), deleted AS (
         DELETE FROM velocity_counters v
          USING (SELECT counter_key FROM velocity_counters WHERE counter_key IN (SELECT counter_key FROM page WHERE expires_at <= $2)
                    AND expires_at <= $2 ORDER BY counter_key FOR UPDATE SKIP LOCKED) expired
          WHERE v.counter_key = expired.counter_key
       )
       SELECT CASE WHEN count(*) = $3 THEN max(counter_key) END AS key FROM page`;
