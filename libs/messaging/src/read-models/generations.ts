import type { Clock } from '@svc/kernel';
import { inTransaction, type Transaction } from '@svc/persistence';
import type { DataSource, MigrationInterface, QueryRunner } from 'typeorm';

/** Maximum number of rows that one statement deletes. It is low, so that other statements are not blocked for long. */
const REMOVE_BATCH_SIZE = 5_000;
/**
 * Pause between the retirement of a generation and its removal. It is longer than the statement timeout (15 s), so that
 * every statement that wrote to the generation when it was retired has ended.
 */
const REMOVE_AFTER_MS = 60_000;

/**
 * Manages the copies of a read model, called generations. Queries read only the serving generation. One generation may
 * be building. Earlier generations are retired, and their rows are deleted. The tables of the read model have a column
 * `generation`, and events are written to the serving and the building generation.
 */
export class Generations {
  /** @param tables the tables of the read model: constants of the caller, never user input */
  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
    private readonly tables: readonly string[],
  ) {}

  async serving(): Promise<number> {
    const [row] = await this.dataSource.query<{ generation: number }[]>(
      `SELECT generation FROM generations WHERE state = 'serving'`,
    );
    return row!.generation;
  }

  async findBuilding(): Promise<number | undefined> {
    const [row] = await this.dataSource.query<{ generation: number }[]>(
      `SELECT generation FROM generations WHERE state = 'building'`,
    );
    return row?.generation;
  }

  /**
   * Begins a new generation: after the commit, events are also written to it. `scheduleReplay` records in the same
   * transaction that earlier events are missing, so the generation cannot be considered complete. Returns undefined if
   * a generation is already being built. Of several concurrent callers, only one begins a generation.
   */
  begin(scheduleReplay: (tx: Transaction) => Promise<void>): Promise<number | undefined> {
    return inTransaction(this.dataSource, async (tx) => {
      const [row] = await tx.query<{ generation: number }[]>(
        `INSERT INTO generations (generation, state, begun_at)
         SELECT max(generation) + 1, 'building', $1 FROM generations ON CONFLICT DO NOTHING RETURNING generation`,
        [this.clock.now()],
      );
      if (row) await scheduleReplay(tx);
      return row?.generation;
    });
  }

  /**
   * Makes this generation the serving generation and retires the previous generation, in one transaction. Resolves to
   * false if another replica has already done this.
   */
  serve(generation: number): Promise<boolean> {
    return inTransaction(this.dataSource, async (tx) => {
      const [building] = await tx.query<unknown[]>(
        `SELECT 1 FROM generations WHERE generation = $1 AND state = 'building' FOR UPDATE`,
        [generation],
      );
      if (!building) return false;
      await tx.query(`UPDATE generations SET state = 'retired', retired_at = $1 WHERE state = 'serving'`, [
        this.clock.now(),
      ]);
      await tx.query(`UPDATE generations SET state = 'serving' WHERE generation = $1`, [generation]);
      return true;
    });
  }

  /**
   * Deletes a batch of rows of retired generations. Resolves to false if there is nothing to delete now. Only retired
   * generations have `retired_at` (constraint generations_retired), and they never become serving again.
   */
  async removeSome(): Promise<boolean> {
    const [retired] = await this.dataSource.query<{ generation: number }[]>(
      `SELECT generation FROM generations WHERE retired_at <= $1 ORDER BY generation LIMIT 1`,
      [new Date(this.clock.now().getTime() - REMOVE_AFTER_MS)],
    );
    if (!retired) return false;
    for (const table of this.tables) {
      // A ctid is unique only within a partition. The condition on the generation protects rows of other generations
      // that have the same ctid in another partition.
      const [, removed] = await this.dataSource.query<[unknown, number]>(
        `DELETE FROM ${table}
          WHERE generation = $1 AND ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE generation = $1 LIMIT ${REMOVE_BATCH_SIZE}))`,
        [retired.generation],
      );
      if (removed > 0) return true;
    }
    await this.dataSource.query(`DELETE FROM generations WHERE generation = $1`, [retired.generation]);
    return true;
  }
}

/** The table of {@link Generations}, for a new service. The first generation serves and receives every event. */
export class Generations1763500000030 implements MigrationInterface {
  readonly name = 'Generations1763500000030';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE generations (
        generation integer     PRIMARY KEY,
        state      text        NOT NULL CONSTRAINT generations_state CHECK (state IN ('serving', 'building', 'retired')),
        begun_at   timestamptz NOT NULL,
        retired_at timestamptz,
        CONSTRAINT generations_retired CHECK ((state = 'retired') = (retired_at IS NOT NULL))
      );
      CREATE UNIQUE INDEX generations_one_serving ON generations (state) WHERE state = 'serving';
      CREATE UNIQUE INDEX generations_one_building ON generations (state) WHERE state = 'building';
      COMMENT ON TABLE generations IS 'Copies of the read model: events are written to the one that serves and to the one that is being built.';
      COMMENT ON COLUMN generations.state IS 'retired: neither read nor written; its rows are being removed.';
      INSERT INTO generations (generation, state, begun_at) VALUES (1, 'serving', now());
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
