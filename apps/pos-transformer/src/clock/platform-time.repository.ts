import { Inject, Injectable } from '@nestjs/common';
import { Store, type Tx } from '../store/store.js';

interface SavedTime {
  /** The platform's time minus the time of the computer's clock, when they were compared last. */
  readonly offsetMs: number;
  /** Since when the stored times are estimates; null if they are times of the platform. ISO 8601. */
  readonly estimatedSince: string | null;
}

/**
 * The columns with times of this program's clock. Other times, such as the expiry of an invoice, come from the platform.
 */
export const TIME_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  baskets: ['changed_at'],
  totals: ['created_at', 'ended_at'],
  payments: ['seen_at'],
  refunds: ['created_at'],
  alerts: ['at'],
};

const COLUMNS = Object.entries(TIME_COLUMNS).flatMap(([table, columns]) =>
  columns.map((column) => ({ table, column })),
);
const AFTER_ALL_TIMES = '9999-12-31T23:59:59.999Z';

/** The last known difference between the computer's clock and the platform's, and corrections of stored times. */
@Injectable()
export class PlatformTimeRepository {
  constructor(@Inject(Store) private readonly store: Store) {}

  get(): SavedTime {
    return this.store.find<SavedTime>(
      'SELECT offset_ms AS offsetMs, estimated_since AS estimatedSince FROM platform_time',
    )!;
  }

  save(tx: Tx, { offsetMs, estimatedSince }: SavedTime): void {
    tx.run('UPDATE platform_time SET offset_ms = :offsetMs, estimated_since = :estimatedSince', {
      offsetMs,
      estimatedSince,
    });
  }

  /** The newest time in the store before `before`; undefined if there is none. ISO 8601. */
  findNewestTime(before: string = AFTER_ALL_TIMES): string | undefined {
    const times = COLUMNS.map(
      ({ table, column }) => `SELECT max(${column}) AS time FROM ${table} WHERE ${column} < :before`,
    );
    const { newest } = this.store.find<{ newest: string | null }>(
      `SELECT max(time) AS newest FROM (${times.join(' UNION ALL ')})`,
      { before },
    )!;
    return newest ?? undefined;
  }

  /**
   * Moves the times that were written at `since` or later, and the times in requests that wait to be sent. No such
   * request has been sent, because nothing is sent before the platform's time is known. No time becomes earlier than the
   * times before `since`: if the clock of the computer was set between two runs without the platform, the times of both
   * runs are wrong by different amounts.
   */
  shift(tx: Tx, since: string, milliseconds: number): void {
    const parameters = {
      since,
      shift: `${(milliseconds / 1000).toFixed(3)} seconds`,
      earliest: this.findNewestTime(since) ?? '',
    };
    const shifted = (time: string): string => `max(strftime('%Y-%m-%dT%H:%M:%fZ', ${time}, :shift), :earliest)`;
    tx.run(
      `UPDATE totals
       SET request = json_set(request, '$.createdUTCDate', ${shifted(`json_extract(request, '$.createdUTCDate')`)})
       WHERE created_at >= :since`,
      parameters,
    );
    for (const { table, column } of COLUMNS)
      tx.run(`UPDATE ${table} SET ${column} = ${shifted(column)} WHERE ${column} >= :since`, parameters);
  }
}
