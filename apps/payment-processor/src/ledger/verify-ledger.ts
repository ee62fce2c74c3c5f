import { Inject, Injectable } from '@nestjs/common';
import { inTransaction, useDefaultPlanner } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { type CheckedSeal, LedgerCheckQuery, type LedgerFinding, type PageBounds } from './ledger-check.query.js';

export interface VerifiedPage {
  readonly seals: number;
  readonly transfers: number;
  /** The last seal that was verified: the next page begins after it. */
  readonly sealNumber: number;
  readonly more: boolean;
  /** The first one of the page. */
  readonly finding: LedgerFinding | null;
}

/** A page takes less than the 10 s for which a client waits. */
const PAGE_BOUNDS: PageBounds = { sealsMax: 1_000, transfersMax: 20_000 };

/**
 * Recomputes the chain from the transfers as they are now, page by page. It finds what does not match the chain. Who may write
 * to all three tables can make another chain that matches: its roots are not those that were published.
 */
@Injectable()
export class VerifyLedger {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(LedgerCheckQuery) private readonly check: LedgerCheckQuery,
  ) {}

  /** The seals after `after`, up to `until` where it is given. */
  async verifyPage(after: number, until?: number, bounds = PAGE_BOUNDS): Promise<VerifiedPage> {
    return inTransaction(this.dataSource, async (tx) => {
      await useDefaultPlanner(tx);
      // First: a seal that is made meanwhile belongs to a later page.
      const newest = await this.check.newestSeal(tx);
      const end = Math.min(newest, until ?? Infinity);
      const seals = await this.check.seals(tx, after, end, bounds);
      const last = seals.at(-1)?.number ?? after;
      const findings = [
        ...(await this.check.brokenTransfers(tx, after, last)),
        ...brokenSeals(after, end, seals),
        ...(await this.check.brokenRoots(tx, after, last)),
      ];
      return {
        seals: seals.length,
        transfers: seals.reduce((sum, { count }) => sum + count, 0),
        sealNumber: last,
        more: last < end,
        // Stable: of the same seal a transfer says more than the seal, and the seal more than the root.
        finding: findings.toSorted((a, b) => a.sealNumber - b.sealNumber)[0] ?? null,
      };
    });
  }
}

function brokenSeals(after: number, end: number, seals: readonly CheckedSeal[]): LedgerFinding[] {
  const missing = seals.find(({ number }, nth) => number !== after + 1 + nth);
  const firstMissing = missing ? after + 1 + seals.indexOf(missing) : seals.length === 0 && after < end ? after + 1 : 0;
  const changed = seals.find(({ isIntact }) => !isIntact);
  return [
    ...(firstMissing > 0 ? [{ kind: 'seal removed', sealNumber: firstMissing } as const] : []),
    ...(changed ? [{ kind: 'seal changed', sealNumber: changed.number } as const] : []),
  ];
}
