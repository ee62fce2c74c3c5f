import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ChargeRecord, Challenge, RefundRecord, VaultRecord } from './records.js';
import { dayOf, type StatementLine, statementLineOf } from './statement.js';

type Line = ChargeRecord | RefundRecord | VaultRecord;

/**
 * The bank's books: a file of JSON lines, appended to before anything is answered. The last line of a key counts.
 * Nothing else opens it for writing; a test reads it to learn what was really charged.
 */
export class ChargeStore {
  private readonly records = new Map<string, ChargeRecord>();
  private readonly keysOfChallenges = new Map<string, string>();
  private readonly cards = new Map<string, VaultRecord>();
  private readonly refunds = new Map<string, RefundRecord>();
  /** Cents that succeeded and pending refunds have of a charge, by the charge's key. */
  private readonly refunded = new Map<string, number>();
  /** By {@link statementKey}, in the order of the file. */
  private readonly statements = new Map<string, StatementLine[]>();
  private readonly file: number;

  constructor(path: string) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    this.file = openSync(path, 'a+', 0o600);
    const text = readFileSync(path, 'utf8');
    for (const line of text.split('\n')) {
      const record = parseLine(line);
      if (record && 'vaultToken' in record) this.cards.set(record.vaultToken, record);
      else if (record && 'refundKey' in record) this.rememberRefund(record);
      else if (record) this.remember(record);
    }
    // A crash in the middle of a line must not swallow the next one.
    if (fstatSync(this.file).size > 0 && !text.endsWith('\n')) writeSync(this.file, '\n');
  }

  find(key: string): ChargeRecord | undefined {
    return this.records.get(key);
  }

  /** The charge that was answered with this challenge. */
  findChallenged(reference: string): (ChargeRecord & { readonly challenge: Challenge }) | undefined {
    const record = this.find(this.keysOfChallenges.get(reference) ?? '');
    return record?.challenge && { ...record, challenge: record.challenge };
  }

  append(record: ChargeRecord): ChargeRecord {
    writeSync(this.file, `${JSON.stringify(record)}\n`);
    return this.remember(record);
  }

  findRefund(refundKey: string): RefundRecord | undefined {
    return this.refunds.get(refundKey);
  }

  appendRefund(record: RefundRecord): RefundRecord {
    writeSync(this.file, `${JSON.stringify(record)}\n`);
    return this.rememberRefund(record);
  }

  /** Cents. */
  refundedOf(chargeKey: string): number {
    return this.refunded.get(chargeKey) ?? 0;
  }

  /** Movements of an account on a day (UTC, `2026-11-22`), oldest first. */
  statementOf(day: string, mode: 'test' | 'live', account: string | undefined): readonly StatementLine[] {
    return this.statements.get(statementKey(day, mode, account)) ?? [];
  }

  findCard(vaultToken: string): VaultRecord | undefined {
    return this.cards.get(vaultToken);
  }

  appendCard(record: VaultRecord): VaultRecord {
    writeSync(this.file, `${JSON.stringify(record)}\n`);
    this.cards.set(record.vaultToken, record);
    return record;
  }

  private remember(record: ChargeRecord): ChargeRecord {
    this.records.set(record.key, record);
    if (record.challenge) this.keysOfChallenges.set(record.challenge.reference, record.key);
    this.enterInStatement(record);
    return record;
  }

  private rememberRefund(record: RefundRecord): RefundRecord {
    const { refundKey, chargeKey, amount, outcome } = record;
    const isFirst = !this.refunds.has(refundKey);
    this.refunds.set(refundKey, record);
    if (isFirst && outcome !== 'declined') this.refunded.set(chargeKey, this.refundedOf(chargeKey) + amount);
    this.enterInStatement(record);
    return record;
  }

  private enterInStatement(record: ChargeRecord | RefundRecord): void {
    const line = statementLineOf(record);
    if (!line) return;
    const key = statementKey(dayOf(line.at), record.mode, record.account);
    const lines = this.statements.get(key);
    if (lines) lines.push(line);
    else this.statements.set(key, [line]);
  }

  close(): void {
    closeSync(this.file);
  }
}

function statementKey(day: string, mode: 'test' | 'live', account: string | undefined): string {
  return [day, mode, account ?? ''].join(' ');
}

function parseLine(line: string): Line | undefined {
  try {
    return JSON.parse(line) as Line;
  } catch {
    return undefined;
  }
}
