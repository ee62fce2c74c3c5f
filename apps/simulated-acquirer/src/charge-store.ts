import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/** What became of a key. A line of the file; never a card number. */
export interface ChargeRecord {
  /** Idempotency key it came with. */
  readonly key: string;
  readonly outcome: 'approved' | 'declined' | 'reversed' | 'challenged';
  /** Why, when declined. */
  readonly reason?: DeclineReason;
  readonly mode: 'test' | 'live';
  /** Cents. */
  readonly amount: number;
  readonly currency: string;
  readonly paymentReference: string;
  readonly acquirerReference: string;
  /** Whether money was taken under this key, before any reversal. */
  readonly charged: boolean;
  /** The card's owner has to be verified first; with `challenged`, and after its reversal. */
  readonly challenge?: Challenge;
}

/** What the bank asks the payer on a page of its own. It takes no money: a charge that names it does. */
export interface Challenge {
  /** Unguessable: whoever knows it can answer it. */
  readonly reference: string;
  readonly state: 'pending' | 'passed' | 'failed';
  /** Where the payer goes on. */
  readonly returnUrl: string;
}

/** A card in the vault. A line of the file, as a charge; the number is in none. */
export interface VaultRecord {
  readonly vaultToken: string;
  readonly behaviour: CardBehaviour;
}

/** What a test number does when it is charged. */
export type CardBehaviour = 'approved' | 'answers-late' | 'drops-the-answer' | 'asks-for-verification' | DeclineReason;

export type DeclineReason = 'declined' | 'insufficient-funds' | 'expired' | 'incorrect-cvv' | 'not-verified';

/**
 * The bank's books: a file of JSON lines, appended to before anything is answered. The last line of a key counts.
 * Nothing else opens it for writing; a test reads it to learn what was really charged.
 */
export class ChargeStore {
  private readonly records = new Map<string, ChargeRecord>();
  private readonly keysOfChallenges = new Map<string, string>();
  private readonly cards = new Map<string, VaultRecord>();
  private readonly file: number;

  constructor(path: string) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    this.file = openSync(path, 'a+', 0o600);
    const text = readFileSync(path, 'utf8');
    for (const line of text.split('\n')) {
      const record = parseLine(line);
      if (record && 'vaultToken' in record) this.cards.set(record.vaultToken, record);
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
    return record;
  }

  close(): void {
    closeSync(this.file);
  }
}

function parseLine(line: string): ChargeRecord | VaultRecord | undefined {
  try {
    return JSON.parse(line) as ChargeRecord | VaultRecord;
  } catch {
    return undefined;
  }
}
