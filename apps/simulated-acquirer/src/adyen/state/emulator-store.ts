import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type {
  BatchRecord,
  ChallengeRecord,
  DisputeRecord,
  EmulatorRecord,
  FirstResponseRecord,
  ModificationRecord,
  MovementRecord,
  PaymentRecord,
  StoredCardRecord,
  WebhookRecord,
} from './records.js';

/** Limit of each kind of record, so that a forgotten emulator does not use all memory. */
const MAX_RECORDS = 200_000;
/** Number of accepted webhooks that are kept, so that the control interface can show them and send them again. */
const MAX_ACCEPTED_WEBHOOKS = 5_000;

/** The emulator has stored as many records as it can. */
export class StoreFullError extends Error {
  constructor() {
    super(`The emulator has stored ${MAX_RECORDS} records of a kind: delete its file.`);
  }
}

/**
 * The emulator's state: a file of JSON lines. A line is an array of records that were written together, so that after a
 * crash all of them exist or none, for example a payment, its webhook and the response under its idempotency key. Only
 * this process writes the file.
 */
export class EmulatorStore {
  readonly payments = new Map<string, PaymentRecord>();
  readonly challenges = new Map<string, ChallengeRecord>();
  readonly modifications = new Map<string, ModificationRecord>();
  readonly storedCards = new Map<string, StoredCardRecord>();
  readonly firstResponses = new Map<string, FirstResponseRecord>();
  readonly webhooks = new Map<number, WebhookRecord>();
  /** Ids of the webhooks that wait to be sent, in the order in which they were queued or released. */
  readonly queuedWebhooks = new Set<number>();
  readonly disputes = new Map<string, DisputeRecord>();
  readonly movements = new Map<number, MovementRecord>();
  /** By merchant account and number. */
  readonly batches = new Map<string, BatchRecord>();
  clockOffsetMs = 0;
  private readonly challengeTokens = new Map<string, string>();
  /** PSP references by merchant account and merchant reference, oldest first. */
  private readonly pspReferences = new Map<string, Set<string>>();
  private readonly acceptedWebhooks = new Set<number>();
  private readonly file: number;
  /** Highest id of a webhook or movement. */
  private lastId = 0;

  constructor(path: string) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    this.file = openSync(path, 'a+', 0o600);
    const text = readFileSync(path, 'utf8');
    for (const line of text.split('\n')) for (const record of parseLine(line)) this.index(record);
    // If a crash cut off the last line, terminate it. Otherwise the next line would be appended to the damaged line.
    if (fstatSync(this.file).size > 0 && !text.endsWith('\n')) writeSync(this.file, '\n');
  }

  /** Writes these records together. */
  commit(records: readonly EmulatorRecord[]): void {
    if (records.length === 0) return;
    writeSync(this.file, `${JSON.stringify(records)}\n`);
    for (const record of records) this.index(record);
  }

  /** Throws if the store accepts no new payments and challenges. */
  assertNotFull(): void {
    const sizes = [this.payments, this.challenges, this.modifications, this.firstResponses, this.webhooks];
    if (sizes.some((map) => map.size >= MAX_RECORDS)) throw new StoreFullError();
  }

  /** A new id of a webhook or movement. */
  nextId(): number {
    return ++this.lastId;
  }

  findChallengeByResult(redirectResult: string): ChallengeRecord | undefined {
    return this.challenges.get(this.challengeTokens.get(redirectResult) ?? '');
  }

  /** The payments with this reference of the merchant, newest first. */
  findPaymentsByReference(merchantAccount: string, reference: string): PaymentRecord[] {
    const found = this.pspReferences.get(referenceKey(merchantAccount, reference)) ?? [];
    return [...found].reverse().map((pspReference) => this.payments.get(pspReference)!);
  }

  close(): void {
    closeSync(this.file);
  }

  private index(record: EmulatorRecord): void {
    switch (record.kind) {
      case 'payment':
        this.indexPayment(record);
        return;
      case 'challenge':
        this.challenges.set(record.token, record);
        if (record.redirectResult !== undefined) this.challengeTokens.set(record.redirectResult, record.token);
        return;
      case 'modification':
        this.modifications.set(record.pspReference, record);
        return;
      case 'stored-card':
        this.storedCards.set(record.id, record);
        return;
      case 'first-response':
        this.firstResponses.set(record.key, record);
        return;
      case 'webhook':
        this.indexWebhook(record);
        return;
      case 'dispute':
        this.disputes.set(record.pspReference, record);
        return;
      case 'movement':
        this.movements.set(record.id, record);
        this.lastId = Math.max(this.lastId, record.id);
        return;
      case 'batch':
        this.batches.set(`${record.merchantAccount} ${record.number}`, record);
        return;
      case 'clock':
        this.clockOffsetMs = record.offsetMs;
    }
  }

  private indexPayment(record: PaymentRecord): void {
    this.payments.set(record.pspReference, record);
    const key = referenceKey(record.order.merchantAccount, record.order.reference);
    const known = this.pspReferences.get(key);
    if (known) known.add(record.pspReference);
    else this.pspReferences.set(key, new Set([record.pspReference]));
  }

  private indexWebhook(record: WebhookRecord): void {
    this.webhooks.set(record.id, record);
    this.lastId = Math.max(this.lastId, record.id);
    if (record.state === 'queued') this.queuedWebhooks.add(record.id);
    else this.queuedWebhooks.delete(record.id);
    if (record.state !== 'accepted') {
      this.acceptedWebhooks.delete(record.id);
      return;
    }
    this.acceptedWebhooks.add(record.id);
    const [oldest] = this.acceptedWebhooks;
    if (this.acceptedWebhooks.size <= MAX_ACCEPTED_WEBHOOKS || oldest === undefined) return;
    this.acceptedWebhooks.delete(oldest);
    this.webhooks.delete(oldest);
  }
}

function referenceKey(merchantAccount: string, reference: string): string {
  return JSON.stringify([merchantAccount, reference]);
}

function parseLine(line: string): EmulatorRecord[] {
  try {
    return JSON.parse(line) as EmulatorRecord[];
  } catch {
    return [];
  }
}
