import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { inTransaction } from '@svc/persistence';
import { DataSource } from 'typeorm';

/** A copy of the read model that is being built. */
export interface Building {
  readonly generation: number;
  readonly begunAt: Date;
  /** Null until the past has been asked for. */
  readonly askedAt: Date | null;
}

/** Rows that one statement removes: short enough to hold nobody up. */
const REMOVED_AT_ONCE = 5_000;
/** A statement that still wrote to a generation when it was retired has ended by then (they end after 15 s). */
const REMOVED_AFTER_MS = 60_000;

/** Copies of the read model: which one is read, which is being built, and what is left of those before. */
@Injectable()
export class GenerationRepository {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  async serving(): Promise<number> {
    const [row] = await this.dataSource.query<{ generation: number }[]>(
      `SELECT generation FROM generations WHERE state = 'serving'`,
    );
    return row!.generation;
  }

  async findBuilding(): Promise<Building | undefined> {
    const [row] = await this.dataSource.query<Building[]>(
      `SELECT generation, begun_at AS "begunAt", asked_at AS "askedAt" FROM generations WHERE state = 'building'`,
    );
    return row;
  }

  /** From now on events are written to it too. Takes the place of one that was begun and never asked for the past. */
  begin(): Promise<number> {
    return inTransaction(this.dataSource, async (tx) => {
      const now = this.clock.now();
      await tx.query(
        `UPDATE generations SET state = 'retired', retired_at = $1 WHERE state = 'building' AND asked_at IS NULL`,
        [now],
      );
      const [row] = await tx.query<{ generation: number }[]>(
        `INSERT INTO generations (generation, state, begun_at)
         SELECT max(generation) + 1, 'building', $1 FROM generations RETURNING generation`,
        [now],
      );
      return row!.generation;
    });
  }

  async markAsked(generation: number): Promise<void> {
    await this.dataSource.query(`UPDATE generations SET asked_at = $2 WHERE generation = $1 AND state = 'building'`, [
      generation,
      this.clock.now(),
    ]);
  }

  /** One transaction: whoever reads sees the one before or this one, and whoever writes reaches the one that is read. */
  async serve(generation: number): Promise<void> {
    await inTransaction(this.dataSource, async (tx) => {
      await tx.query(`UPDATE generations SET state = 'retired', retired_at = $1 WHERE state = 'serving'`, [
        this.clock.now(),
      ]);
      await tx.query(`UPDATE generations SET state = 'serving' WHERE generation = $1 AND state = 'building'`, [
        generation,
      ]);
    });
  }

  /** Removes some of what is left of retired generations. False when there is nothing to remove now. */
  async removeSome(): Promise<boolean> {
    const [retired] = await this.dataSource.query<{ generation: number }[]>(
      `SELECT generation FROM generations WHERE state = 'retired' AND retired_at <= $1 ORDER BY generation LIMIT 1`,
      [new Date(this.clock.now().getTime() - REMOVED_AFTER_MS)],
    );
    if (!retired) return false;
    for (const table of ['payments', 'payment_counts']) {
      const [, removed] = await this.dataSource.query<[unknown, number]>(
        `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE generation = $1 LIMIT ${REMOVED_AT_ONCE}))`,
        [retired.generation],
      );
      if (removed > 0) return true;
    }
    await this.dataSource.query(`DELETE FROM generations WHERE generation = $1 AND state = 'retired'`, [
      retired.generation,
    ]);
    return true;
  }
}
