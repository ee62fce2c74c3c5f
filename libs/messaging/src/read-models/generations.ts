import type { Clock } from '@svc/kernel';
import { inTransaction } from '@svc/persistence';
import type { DataSource, EntityManager, MigrationInterface, QueryRunner } from 'typeorm';

/** Rows that one statement removes: few enough to block no other statement for long. */
const REMOVED_AT_ONCE = 5_000;
/** By then, every statement that still wrote to a generation when it was retired has ended (after 15 s). */
const REMOVED_AFTER_MS = 60_000;

/**
 * Copies of a read model, called generations: which one is read, which is being built, and the rows left of earlier ones. The
 * tables of the read model have a column `generation`; their writers write to the generations that are serving or building.
 */
export class Generations {
  /** @param tables of the read model; constants of the caller, never input */
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
   * Begins a new generation: after the commit, events are written to it too. `scheduleReplay` records in the same transaction that
   * earlier events are missing, so no one can take it for complete. Of several callers at once one begins; the others get
   * undefined, as they do while a generation is being built.
   */
  begin(scheduleReplay: (tx: EntityManager) => Promise<void>): Promise<number | undefined> {
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
   * Switches in one transaction: a reader sees the old generation or this one, and a writer reaches the one that is read. False
   * when another replica was first: this generation then serves already, and must not be retired.
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
   * Removes some rows of retired generations. False when there is nothing to remove now. Only a retired one has `retired_at`
   * (constraint generations_retired), and it never serves again.
   */
  async removeSome(): Promise<boolean> {
    const [retired] = await this.dataSource.query<{ generation: number }[]>(
      `SELECT generation FROM generations WHERE retired_at <= $1 ORDER BY generation LIMIT 1`,
      [new Date(this.clock.now().getTime() - REMOVED_AFTER_MS)],
    );
    if (!retired) return false;
    for (const table of this.tables) {
      // A ctid is unique in one partition only: the condition on the generation protects rows of others with the same ctid.
      const [, removed] = await this.dataSource.query<[unknown, number]>(
        `DELETE FROM ${table}
          WHERE generation = $1 AND ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE generation = $1 LIMIT ${REMOVED_AT_ONCE}))`,
        [retired.generation],
      );
      if (removed > 0) return true;
    }
    await this.dataSource.query(`DELETE FROM generations WHERE generation = $1`, [retired.generation]);
    return true;
  }
}

/** The table of {@link Generations}, for a new service; its first generation serves and receives every event. */
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
