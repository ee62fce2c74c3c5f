import { Inject, Injectable } from '@nestjs/common';
import type { SettlementAmount } from '@svc/contracts';
import { Clock, DomainError } from '@svc/kernel';
import type { MovementSum } from '../settlement.js';
import { type SettlementOwner, SettlementRepository } from '../settlement.repository.js';
import { type Balance, BalanceRepository } from './balance.repository.js';

/** A caller waits at most for so long, and for one statement. */
const MAX_DURATION_MS = 5_000;

/** Computes what a merchant was owed at a time: the sum of all its movements before. */
@Injectable()
export class Balances {
  constructor(
    @Inject(SettlementRepository) private readonly settlements: SettlementRepository,
    @Inject(BalanceRepository) private readonly balances: BalanceRepository,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /**
   * Sums up the past month by month (UTC), and stores the balance at the beginning of each month that is sealed. A later
   * call begins there, so that it reads at most a month.
   *
   * @throws DomainError `service.not-ready` if the past is too long for one call; a repeat continues
   */
  async compute(owner: SettlementOwner, time: Date): Promise<readonly SettlementAmount[]> {
    const deadline = this.clock.now().getTime() + MAX_DURATION_MS;
    // Read before the sums: all movements before it are committed, so the sums contain them.
    const closedUntil = await this.settlements.findClosedUntil();
    let balance = (await this.balances.findStored(owner, time)) ?? (await this.beginning(owner));
    if (!balance) return [];
    for (let month = nextMonth(balance.at); month <= time; month = nextMonth(month)) {
      balance = await this.advance(owner, balance, month);
      if (closedUntil && month <= closedUntil) await this.balances.insertIfAbsent(owner, balance);
      if (this.clock.now().getTime() > deadline) throw new DomainError('service.not-ready', { retryAfterSeconds: 1 });
    }
    return (await this.advance(owner, balance, time)).amounts;
  }

  private async beginning(owner: SettlementOwner): Promise<Balance | undefined> {
    const at = await this.balances.findFirstTime(owner);
    return at && { at, amounts: [] };
  }

  private async advance(owner: SettlementOwner, { at, amounts }: Balance, until: Date): Promise<Balance> {
    const sums = at < until ? await this.settlements.sumUp(owner, { start: at, end: until }) : [];
    return { at: until, amounts: addSums(amounts, sums) };
  }
}

/** The amounts with the sums of further movements, sorted by currency. */
export function addSums(
  amounts: readonly SettlementAmount[],
  sums: readonly Pick<MovementSum, 'currency' | 'amount'>[],
): SettlementAmount[] {
  const byCurrency = new Map(amounts.map(({ currencyISOCode, amount }) => [currencyISOCode, amount]));
  for (const { currency, amount } of sums) byCurrency.set(currency, (byCurrency.get(currency) ?? 0) + amount);
  return [...byCurrency.keys()]
    .sort()
    .map((currencyISOCode) => ({ currencyISOCode, amount: byCurrency.get(currencyISOCode)! }));
}

/** The beginning of the next month in UTC. */
function nextMonth(time: Date): Date {
  return new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + 1, 1));
}
