import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { SCHEMA_STEPS } from './schema.js';

export type Parameters = Readonly<Record<string, SQLInputValue>>;

/** Reads the committed state; within a transaction also its own writes. */
export interface Reader {
  find<Row>(sql: string, parameters?: Parameters): Row | undefined;
  list<Row>(sql: string, parameters?: Parameters): Row[];
}

/** A transaction, passed as an argument to each function that takes part in it. */
export interface Tx extends Reader {
  /** Returns the id of a row that was inserted, and how many rows changed. */
  run(sql: string, parameters?: Parameters): { readonly id: number; readonly changes: number };
}

/**
 * The transformer's own database: one file, with the SQLite of Node.js. A transaction is on disk when it returns (WAL with
 * synchronous=FULL), so everything that a till was answered survives a power cut. All operations are synchronous and take a
 * millisecond or less: nothing else runs during a transaction, and a call to the platform inside one is impossible.
 */
export class Store implements Reader {
  private readonly database: DatabaseSync;
  private readonly statements = new Map<string, StatementSync>();
  private readonly tx: Tx;

  /** @throws Error when the file is of a later release, or cannot be opened */
  constructor(file: string) {
    mkdirSync(dirname(file), { recursive: true });
    // The file contains customer names. SQLite gives its WAL files the same permissions.
    closeSync(openSync(file, 'a', 0o600));
    this.database = new DatabaseSync(file);
    // Another process on the same file would send the same calls, so this one holds the lock until it ends.
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

  /** Commits all writes of `work`, or rolls them back if it throws. */
  transaction<T>(work: (tx: Tx) => T): T {
    this.database.exec('BEGIN IMMEDIATE');
    try {
      const result = work(this.tx);
      this.database.exec('COMMIT');
      return result;
    } catch (error) {
      this.database.exec('ROLLBACK');
      throw error;
    }
  }

  close(): void {
    this.statements.clear();
    this.database.close();
  }

  private migrate(): void {
    const { user_version: version } = this.find<{ user_version: number }>('PRAGMA user_version')!;
    if (version > SCHEMA_STEPS.length)
      throw new Error(
        `The database is of a later release: its schema is ${version}, this one knows ${SCHEMA_STEPS.length}`,
      );
    for (const [index, step] of SCHEMA_STEPS.entries()) {
      if (index < version) continue;
      this.transaction(() => {
        this.database.exec(step);
        this.database.exec(`PRAGMA user_version = ${index + 1}`);
      });
    }
  }

  private statement(sql: string): StatementSync {
    let statement = this.statements.get(sql);
    if (!statement) this.statements.set(sql, (statement = this.database.prepare(sql)));
    return statement;
  }
}
