import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { DomainError } from '@svc/kernel';
import type { ServiceLog } from '@svc/service/standalone';
import { SCHEMA_STEPS } from './schema.js';
import { describeWriteProblem } from './write-problem.js';

/** A till that gets `service.not-ready` may repeat its request after this time. */
const RETRY_AFTER_SECONDS = 10;

export type Parameters = Readonly<Record<string, SQLInputValue>>;

/** Reads the committed data. Within a transaction, it also reads the writes of that transaction. */
export interface Reader {
  find<Row>(sql: string, parameters?: Parameters): Row | undefined;
  list<Row>(sql: string, parameters?: Parameters): Row[];
}

/** A transaction, passed as an argument to each function that takes part in it. */
export interface Tx extends Reader {
  /** Returns the id of the inserted row, if any, and how many rows changed. */
  run(sql: string, parameters?: Parameters): { readonly id: number; readonly changes: number };
}

/**
 * The transformer's database: one SQLite file. A transaction is on disk when `transaction()` returns (WAL with
 * synchronous=FULL), so the data behind each response to a till survives a power cut. All operations are
 * synchronous and take a millisecond or less. Therefore no other code runs during a transaction, and a transaction
 * cannot contain a call to the platform.
 *
 * If the disk is full or fails, a transaction changes nothing, and its caller gets `service.not-ready`. The next
 * transaction that is stored ends this state.
 */
export class Store implements Reader {
  private readonly database: DatabaseSync;
  private readonly statements = new Map<string, StatementSync>();
  private readonly tx: Tx;
  private problem: string | undefined;

  /** @throws Error when the file is of a later release, or cannot be opened */
  constructor(
    file: string,
    private readonly log?: Pick<ServiceLog, 'error' | 'info'>,
  ) {
    mkdirSync(dirname(file), { recursive: true });
    // The file contains customer names. SQLite gives its WAL files the same permissions.
    closeSync(openSync(file, 'a', 0o600));
    this.database = new DatabaseSync(file);
    // Hold the file lock until this process ends: a second process on the same file would send the same calls.
    this.database.exec('PRAGMA locking_mode = EXCLUSIVE');
    this.database.exec('PRAGMA journal_mode = WAL');
    this.database.exec('PRAGMA synchronous = FULL');
    this.database.exec('PRAGMA foreign_keys = ON');
    this.tx = {
      find: (sql, parameters) => this.find(sql, parameters),
      list: (sql, parameters) => this.list(sql, parameters),
      run: (sql, parameters = {}) => {
        const { lastInsertRowid, changes } = this.statement(sql).run(parameters);
        return { id: Number(lastInsertRowid), changes: Number(changes) };
      },
    };
    try {
      this.migrate();
    } catch (error) {
      this.close();
      throw error;
    }
  }

  find<Row>(sql: string, parameters: Parameters = {}): Row | undefined {
    return this.statement(sql).get(parameters) as Row | undefined;
  }

  list<Row>(sql: string, parameters: Parameters = {}): Row[] {
    return this.statement(sql).all(parameters) as Row[];
  }

  /**
   * Commits all writes of `callback`, or rolls them back if it throws.
   *
   * @throws DomainError service.not-ready when the disk is full or fails
   */
  transaction<T>(callback: (tx: Tx) => T): T {
    try {
      const result = this.commit(callback);
      this.setProblem(undefined);
      return result;
    } catch (error) {
      const problem = describeWriteProblem(error);
      if (problem === undefined) throw error;
      this.setProblem(problem, error);
      throw new DomainError('service.not-ready', {
        message: `Nothing was stored: ${problem}.`,
        retryAfterSeconds: RETRY_AFTER_SECONDS,
        cause: error,
      });
    }
  }

  /**
   * Why nothing can be stored; undefined if the store can be written. After a failure, writes the schema's version again
   * to find out whether the failure has ended.
   */
  findWriteProblem(): string | undefined {
    if (this.problem === undefined) return undefined;
    try {
      this.transaction(() => this.writeVersion(SCHEMA_STEPS.length));
    } catch {
      // The transaction has recorded the problem.
    }
    return this.problem;
  }

  close(): void {
    this.statements.clear();
    this.database.close();
  }

  private commit<T>(callback: (tx: Tx) => T): T {
    this.database.exec('BEGIN IMMEDIATE');
    try {
      const result = callback(this.tx);
      this.database.exec('COMMIT');
      return result;
    } catch (error) {
      // SQLite rolls back by itself when the disk is full. A second rollback would hide the cause.
      if (this.database.isTransaction) this.database.exec('ROLLBACK');
      throw error;
    }
  }

  private setProblem(problem: string | undefined, error?: unknown): void {
    if (problem !== undefined && this.problem !== problem)
      this.log?.error({ err: error }, `nothing can be stored: ${problem}`);
    if (problem === undefined && this.problem !== undefined) this.log?.info({}, 'the store can be written again');
    this.problem = problem;
  }

  private writeVersion(version: number): void {
    this.database.exec(`PRAGMA user_version = ${version}`);
  }

  private migrate(): void {
    const { user_version: version } = this.find<{ user_version: number }>('PRAGMA user_version')!;
    if (version > SCHEMA_STEPS.length)
      throw new Error(
        `The database is of a later release: its schema is ${version}, the latest known is ${SCHEMA_STEPS.length}`,
      );
    for (const [index, step] of SCHEMA_STEPS.entries()) {
      if (index < version) continue;
      this.transaction(() => {
        this.database.exec(step);
        this.writeVersion(index + 1);
      });
    }
  }

  private statement(sql: string): StatementSync {
    let statement = this.statements.get(sql);
    if (!statement) this.statements.set(sql, (statement = this.database.prepare(sql)));
    return statement;
  }
}
