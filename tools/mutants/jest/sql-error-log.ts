import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';

/** Syntax errors and rule violations (class 42), except insufficient privilege, which tests provoke. */
const INVALID_STATEMENT_ERROR = /ERROR:\s+(42(?!501)\w{3}: .*)/g;

/** Reads PostgreSQL's errors about invalid statements. A mutant that causes one proves nothing about the tests. */
export class SqlErrorLog {
  private readonly log: string;
  private readUpTo = 0;

  /** @param log path of the log of a server with log_error_verbosity = verbose; empty for tests without a server */
  constructor(log: string) {
    this.log = log;
  }

  /** Ignores all errors up to now, because they belong to an earlier run. */
  skipToEnd(): void {
    this.readUpTo = this.size();
  }

  /** The errors since the last call. */
  read(): string[] {
    const from = this.readUpTo;
    const length = this.size() - from;
    this.readUpTo += Math.max(length, 0);
    if (length <= 0) return [];
    const handle = openSync(this.log, 'r');
    try {
      const bytes = Buffer.alloc(length);
      readSync(handle, bytes, 0, length, from);
      return parseSqlErrors(bytes.toString('utf8'));
    } finally {
      closeSync(handle);
    }
  }

  private size(): number {
    return existsSync(this.log) ? statSync(this.log).size : 0;
  }
}

export function parseSqlErrors(log: string): string[] {
  return [...new Set([...log.matchAll(INVALID_STATEMENT_ERROR)].map(([, text]) => text!.trim()))];
}
