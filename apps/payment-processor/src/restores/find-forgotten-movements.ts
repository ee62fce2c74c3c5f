import { Inject, Injectable } from '@nestjs/common';
import { addDays, Clock, DomainError, isUuid } from '@svc/kernel';
import type { StatementLine } from '../acquirers/acquirer.js';
import { Acquirers } from '../acquirers/acquirers.js';
import { formatUTCDay } from '../ledger/day.js';
import { type StatementAccount, StatementRepository } from '../reconciliation/statement.repository.js';
import type { ForgottenMovement } from './forgotten-charges/forgotten-movement.js';
import { RestoreRepository } from './restore.repository.js';

/** The statements from an hour before the restored time are read, because an acquirer has its own clock. */
const CLOCK_TOLERANCE_MS = 3_600_000;
/** A backup that is older is not a restore but a new beginning. Statements of all accounts of more days would take hours. */
const MAX_DAYS = 31;
/** All are in memory until they are repaired. */
const MAX_MOVEMENTS = 100_000;

/** The days whose statements may contain forgotten movements, oldest first. Throws when there are too many. */
export function listDays(restoredTo: Date, now: Date): string[] {
  const days: string[] = [];
  const last = formatUTCDay(now);
  for (let day = formatUTCDay(new Date(restoredTo.getTime() - CLOCK_TOLERANCE_MS)); day <= last; day = addDays(day)) {
    days.push(day);
    if (days.length > MAX_DAYS)
      throw new DomainError('request.invalid', { message: `The restored time is more than ${MAX_DAYS} days ago.` });
  }
  return days;
}

/**
 * Reads the statements since the restored time, and finds the charges and refunds whose keys the database does not
 * contain. Reversals need no search: each belongs to a charge, whose reversal is requested again and confirmed. Disputes
 * arrive as reports.
 */
@Injectable()
export class FindForgottenMovements {
  constructor(
    @Inject(StatementRepository) private readonly statements: StatementRepository,
    @Inject(RestoreRepository) private readonly restores: RestoreRepository,
    @Inject(Acquirers) private readonly acquirers: Acquirers,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** Throws `acquirer.unavailable` when a statement cannot be read: then nothing is known about its account. */
  async execute(restoredTo: Date): Promise<ForgottenMovement[]> {
    const found = new Map<string, ForgottenMovement>();
    for (const day of listDays(restoredTo, this.clock.now()))
      for (const account of await this.statements.findAccounts(day, undefined, () => Promise.resolve()))
        for await (const lines of this.readPages(day, account))
          for (const line of await this.selectUnknown(lines)) {
            const { acquirer, mode, accountReference, merchantId } = account;
            found.set(line.idempotencyKey, {
              ...{ route: { acquirer, account: { mode, accountReference } }, merchantId, line },
            });
            if (found.size > MAX_MOVEMENTS)
              throw new Error(`The restore has forgotten more than ${MAX_MOVEMENTS} movements.`);
          }
    return [...found.values()];
  }

  private async *readPages(
    day: string,
    { acquirer, mode, accountReference }: StatementAccount,
  ): AsyncGenerator<readonly StatementLine[]> {
    for (let next: string | undefined; ;) {
      const page = await this.acquirers.get(acquirer).readStatement?.(day, { mode, accountReference }, next);
      if (!page) throw new DomainError('acquirer.unavailable', { retryAfterSeconds: 30 });
      yield page.lines;
      if (page.next === undefined) return;
      next = page.next;
    }
  }

  private async selectUnknown(lines: readonly StatementLine[]): Promise<StatementLine[]> {
    const searched = lines.filter(({ kind }) => kind === 'charge' || kind === 'refund');
    if (searched.length === 0) return [];
    const keys = searched.map(({ idempotencyKey }) => idempotencyKey).filter(isUuid);
    const known = await this.restores.findKnownKeys(keys);
    return searched.filter(({ idempotencyKey }) => !known.has(idempotencyKey.toLowerCase()));
  }
}
