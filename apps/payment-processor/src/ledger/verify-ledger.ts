import { Inject, Injectable } from '@nestjs/common';
import { inTransaction, useDefaultPlanner } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { type CheckedSeal, LedgerCheckQuery, type LedgerFinding, type PageBounds } from './ledger-check.query.js';

export interface VerifiedPage {
  readonly seals: number;
  readonly transfers: number;
  /** Number of the last verified seal. The next page begins after it. */
  readonly sealNumber: number;
  readonly more: boolean;
  /** The first deviation on the page. */
  readonly finding: LedgerFinding | null;
}

/** Limits of a page, so that its verification ends before the client timeout of 10 s. */
const PAGE_BOUNDS: PageBounds = { sealsMax: 1_000, transfersMax: 20_000 };

/**
 * Recomputes the hash chain from the current transfers, page by page, and finds deviations. An attacker who can write
 * to all three tables can create another valid chain, but the root hashes of that chain differ from the published root
 * hashes.
 */
@Injectable()
export class VerifyLedger {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(LedgerCheckQuery) private readonly checks: LedgerCheckQuery,
  ) {}

  /** Verifies the seals after number `after`, up to number `until` if it is set. */
  async verifyPage(after: number, until?: number, bounds = PAGE_BOUNDS): Promise<VerifiedPage> {
    return inTransaction(this.dataSource, async (tx) => {
      await useDefaultPlanner(tx);
      // The newest number is read first, so that a seal that is appended in the meantime belongs to a later page.
      const newestSealNumber = await this.checks.findNewestSealNumber(tx);
      const end = Math.min(newestSealNumber, until ?? Infinity);
      const seals = await this.checks.checkSeals(tx, after, end, bounds);
      const lastSealNumber = seals.at(-1)?.number ?? after;
      const findings = [
        ...(await this.checks.findTransferDeviations(tx, after, lastSealNumber)),
        ...findSealDeviations(after, end, seals),
        ...(await this.checks.findRootDeviations(tx, after, lastSealNumber)),
      ];
      return {
        seals: seals.length,
        transfers: seals.reduce((sum, { count }) => sum + count, 0),
        sealNumber: lastSealNumber,
        more: lastSealNumber < end,
        // The sort is stable. For the same seal, a changed transfer is reported before a changed seal, and a changed
        // seal before a changed root.
        finding: findings.toSorted((a, b) => a.sealNumber - b.sealNumber)[0] ?? null,
      };
    });
  }
}

function findSealDeviations(after: number, end: number, seals: readonly CheckedSeal[]): LedgerFinding[] {
  const sealAfterGap = seals.find(({ number }, nth) => number !== after + 1 + nth);
  const firstMissingNumber = sealAfterGap
    ? after + 1 + seals.indexOf(sealAfterGap)
    : seals.length === 0 && after < end
      ? after + 1
      : 0;
  const changedSeal = seals.find(({ isIntact }) => !isIntact);
  return [
    ...(firstMissingNumber > 0 ? [{ kind: 'seal removed', sealNumber: firstMissingNumber } as const] : []),
    ...(changedSeal ? [{ kind: 'seal changed', sealNumber: changedSeal.number } as const] : []),
  ];
}
