import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Challenge, ChargeRecord, RefundRecord, VaultRecord } from './records.js';
import { dayOf, type StatementLine, statementLineOf } from './statement.js';

type Line = ChargeRecord | RefundRecord | VaultRecord;

/**
 * The bank's records: a file of JSON lines, appended before each response. The last line of a key counts. Only this process
 * writes the file; tests read it to see which charges were made.
 */
export class ChargeStore {
  private readonly records = new Map<string, ChargeRecord>();
  private readonly chargeKeyByChallenge = new Map<string, string>();
  private readonly cards = new Map<string, VaultRecord>();
  private readonly refunds = new Map<string, RefundRecord>();
  /** Cents of successful and pending refunds, by the charge's key. */
  private readonly refundedAmounts = new Map<string, number>();
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
      else if (record && 'refundKey' in record) this.indexRefund(record);
      else if (record) this.index(record);
    }
    // Terminate a line that a crash cut off, so that the next line is intact.
    if (fstatSync(this.file).size > 0 && !text.endsWith('\n')) writeSync(this.file, '\n');
  }

  find(key: string): ChargeRecord | undefined {
    return this.records.get(key);
  }

  /** The charge for which the bank requested this challenge. */
  findByChallenge(reference: string): (ChargeRecord & { readonly challenge: Challenge }) | undefined {
    const record = this.find(this.chargeKeyByChallenge.get(reference) ?? '');
    return record?.challenge && { ...record, challenge: record.challenge };
  }

  append(record: ChargeRecord): ChargeRecord {
    writeSync(this.file, `${JSON.stringify(record)}\n`);
    return this.index(record);
  }

  findRefund(refundKey: string): RefundRecord | undefined {
    return this.refunds.get(refundKey);
  }

  appendRefund(record: RefundRecord): RefundRecord {
    writeSync(this.file, `${JSON.stringify(record)}\n`);
    return this.indexRefund(record);
  }

  /** In cents. */
  refundedAmount(chargeKey: string): number {
    return this.refundedAmounts.get(chargeKey) ?? 0;
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

  private index(record: ChargeRecord): ChargeRecord {
    this.records.set(record.key, record);
    if (record.challenge) this.chargeKeyByChallenge.set(record.challenge.reference, record.key);
    this.addToStatement(record);
    return record;
  }

  private indexRefund(record: RefundRecord): RefundRecord {
    const { refundKey, chargeKey, amount, outcome } = record;
    const isFirst = !this.refunds.has(refundKey);
    this.refunds.set(refundKey, record);
    if (isFirst && outcome !== 'declined') this.refundedAmounts.set(chargeKey, this.refundedAmount(chargeKey) + amount);
    this.addToStatement(record);
    return record;
  }

  private addToStatement(record: ChargeRecord | RefundRecord): void {
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
