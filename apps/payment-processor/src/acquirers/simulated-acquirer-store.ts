import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/** A line of the file. Never a card number. */
export interface ChargeRecord {
  /** Idempotency key it came with. */
  readonly key: string;
  readonly outcome: 'approved' | 'declined' | 'reversed';
  /** Code of the error catalogue when declined. */
  readonly reason?: string;
  /** Cents. */
  readonly amount: number;
  readonly currency: string;
  readonly paymentReference: string;
  readonly acquirerReference: string;
  /** Whether money was taken under this key, before any reversal. */
  readonly charged: boolean;
}

/**
 * The simulated acquirer's books: a file of JSON lines, appended to before anything is answered. The last line of a
 * key counts. Only the simulated acquirer opens it for writing, once per process.
 */
export class SimulatedAcquirerStore {
  private readonly records = new Map<string, ChargeRecord>();
  private readonly file: number;

  constructor(path: string) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    this.file = openSync(path, 'a+', 0o600);
    const text = readFileSync(path, 'utf8');
    for (const line of text.split('\n')) {
      const record = parseLine(line);
      if (record) this.records.set(record.key, record);
    }
    // A crash in the middle of a line must not swallow the next one.
    if (fstatSync(this.file).size > 0 && !text.endsWith('\n')) writeSync(this.file, '\n');
  }

  find(key: string): ChargeRecord | undefined {
    return this.records.get(key);
  }

  append(record: ChargeRecord): ChargeRecord {
    writeSync(this.file, `${JSON.stringify(record)}\n`);
    this.records.set(record.key, record);
    return record;
  }

  close(): void {
    closeSync(this.file);
  }
}

function parseLine(line: string): ChargeRecord | undefined {
  try {
    return JSON.parse(line) as ChargeRecord;
  } catch {
    return undefined;
  }
}
