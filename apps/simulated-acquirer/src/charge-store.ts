import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Challenge, ChargeRecord, RefundRecord, VaultRecord } from './records.js';
import { buildStatementLine, type StatementLine, utcDay } from './statement.js';

type StoredRecord = ChargeRecord | RefundRecord | VaultRecord;

/**
 * The bank's records: a file of JSON lines, to which a line is appended before each response. If several lines have the
 * same key, the last one is valid. Only this process writes the file. Tests read it to check which charges were
 * created.
 */
export class ChargeStore {
  private readonly charges = new Map<string, ChargeRecord>();
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
      else if (record) this.indexCharge(record);
    }
    // If a crash cut off the last line, terminate it. Otherwise the next record would be appended to the damaged line.
    if (fstatSync(this.file).size > 0 && !text.endsWith('\n')) writeSync(this.file, '\n');
  }

  findCharge(key: string): ChargeRecord | undefined {
    return this.charges.get(key);
  }

  /** The charge for which the bank requested this challenge. */
  findByChallenge(reference: string): (ChargeRecord & { readonly challenge: Challenge }) | undefined {
    const record = this.findCharge(this.chargeKeyByChallenge.get(reference) ?? '');
    return record?.challenge && { ...record, challenge: record.challenge };
  }

  appendCharge(record: ChargeRecord): ChargeRecord {
    writeSync(this.file, `${JSON.stringify(record)}\n`);
    return this.indexCharge(record);
  }

  findRefund(refundKey: string): RefundRecord | undefined {
    return this.refunds.get(refundKey);
  }

  appendRefund(record: RefundRecord): RefundRecord {
    writeSync(this.file, `${JSON.stringify(record)}\n`);
    return this.indexRefund(record);
  }

  /** Cents of successful and pending refunds of a charge. */
  refundedAmount(chargeKey: string): number {
    return this.refundedAmounts.get(chargeKey) ?? 0;
  }

  /** Movements of an account on a day (UTC, `2026-11-22`), oldest first. */
  findStatement(day: string, mode: 'test' | 'live', account: string): readonly StatementLine[] {
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

  private indexCharge(record: ChargeRecord): ChargeRecord {
    this.charges.set(record.key, record);
    if (record.challenge) this.chargeKeyByChallenge.set(record.challenge.reference, record.key);
    this.addToStatement(record);
    return record;
  }

  private indexRefund(record: RefundRecord): RefundRecord {
    const { refundKey, chargeKey, amount, outcome } = record;
    const isFirst = !this.refunds.has(refundKey);
    this.refunds.set(refundKey, record);
    // A pending refund is never declined later, so it counts at once.
    if (isFirst && outcome !== 'declined') this.refundedAmounts.set(chargeKey, this.refundedAmount(chargeKey) + amount);
    this.addToStatement(record);
    return record;
  }

  private addToStatement(record: ChargeRecord | RefundRecord): void {
    const line = buildStatementLine(record);
    if (!line) return;
    const key = statementKey(utcDay(line.at), record.mode, record.account);
    const lines = this.statements.get(key);
    if (lines) lines.push(line);
    else this.statements.set(key, [line]);
  }

  close(): void {
    closeSync(this.file);
  }
}

function statementKey(day: string, mode: 'test' | 'live', account: string): string {
  return [day, mode, account].join(' ');
}

function parseLine(line: string): StoredRecord | undefined {
  try {
    return JSON.parse(line) as StoredRecord;
  } catch {
    return undefined;
  }
}
