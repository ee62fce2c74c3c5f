import { Inject, Injectable } from '@nestjs/common';
import { inTransaction, useDefaultPlanner } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { type CheckedSeal, LedgerCheckQuery, type LedgerFinding, type PageBounds } from './ledger-check.query.js';

export interface VerifiedPage {
  readonly seals: number;
  readonly transfers: number;
  /** The last verified seal: the next page begins after it. */
  readonly sealNumber: number;
  readonly more: boolean;
  /** The first deviation on the page. */
  readonly finding: LedgerFinding | null;
}

/** A page takes less than the 10 s timeout of a client. */
const PAGE_BOUNDS: PageBounds = { sealsMax: 1_000, transfersMax: 20_000 };

/**
 * Recomputes the hash chain from the current transfers, page by page, and finds deviations. An attacker who can write to all
 * three tables can create another valid chain, but its roots differ from the published ones.
 */
@Injectable()
export class VerifyLedger {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(LedgerCheckQuery) private readonly check: LedgerCheckQuery,
  ) {}

  /** Verifies the seals after `after`, up to `until` if given. */
  async verifyPage(after: number, until?: number, bounds = PAGE_BOUNDS): Promise<VerifiedPage> {
    return inTransaction(this.dataSource, async (tx) => {
      await useDefaultPlanner(tx);
      // First: a seal that is appended meanwhile belongs to a later page.
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
        // The sort is stable: for the same seal, a transfer is more specific than the seal, and the seal than the root.
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
