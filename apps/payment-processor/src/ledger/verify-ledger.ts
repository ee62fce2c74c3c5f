import { Inject, Injectable } from '@nestjs/common';
import { inTransaction, namedStatement, useDefaultPlanner } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { GENESIS_HASH, transferHash } from './transfer-hash.js';

/** Something that is not as it was sealed. */
export interface LedgerFinding {
  readonly kind: FindingKind;
  readonly sealNumber: number;
  readonly transferId?: string;
  readonly day?: string;
}

export type FindingKind =
  /** A transfer is not as it was sealed. */
  | 'changed'
  /** A transfer that was sealed is missing. */
  | 'removed'
  /** A transfer has its place among those of a seal, but was not sealed. */
  | 'inserted'
  /** A seal is not as it was made: its hash, the one before it, its transfers or its end. */
  | 'seal changed'
  | 'seal removed'
  /** The root of a day is not the hash of its seal. */
  | 'root changed';

export interface VerifiedPage {
  readonly seals: number;
  readonly transfers: number;
  /** The last seal that was verified: the next page begins after it. */
  readonly sealNumber: number;
  readonly more: boolean;
  /** The first one of the page. */
  readonly finding: LedgerFinding | null;
}

/** What a page has at most; it has one seal at least. */
export interface PageBounds {
  readonly sealsMax: number;
  /** Of all seals but the last. */
  readonly transfersMax: number;
}

/** A page takes less than the 10 s for which a client waits. */
const PAGE_BOUNDS: PageBounds = { sealsMax: 1_000, transfersMax: 20_000 };

/**
 * Recomputes the chain from the transfers as they are now, page by page. It finds what does not match the chain. Who may write
 * to all three tables can make another chain that matches: its roots are not those that were published.
 */
@Injectable()
export class VerifyLedger {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /** The seals after `after`, up to `until` where it is given. */
  async verifyPage(after: number, until?: number, bounds = PAGE_BOUNDS): Promise<VerifiedPage> {
    return inTransaction(this.dataSource, async (tx) => {
      await useDefaultPlanner(tx);
      const find = async <Row>({ text, valuesOf }: ReturnType<typeof namedStatement>, values: object): Promise<Row[]> =>
        tx.query<Row[]>(text, valuesOf({ ...values }));
      // First: a seal that is made meanwhile belongs to a later page.
      const [newest] = await find<{ number: number }>(NEWEST, {});
      const end = Math.min(newest?.number ?? 0, until ?? Infinity);
      const seals = await find<SealRow>(SEALS, { after, end, ...bounds });
      const last = seals.at(-1)?.number ?? after;
      const findings = [
        ...(await find<LedgerFinding>(TRANSFERS, { after, last })),
        ...brokenSeals(after, end, seals),
        ...(await find<LedgerFinding>(ROOTS, { after, last })),
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

function brokenSeals(after: number, end: number, seals: readonly SealRow[]): LedgerFinding[] {
  const missing = seals.find(({ number }, nth) => number !== after + 1 + nth);
  const firstMissing = missing ? after + 1 + seals.indexOf(missing) : seals.length === 0 && after < end ? after + 1 : 0;
  const changed = seals.find(({ isIntact }) => !isIntact);
  return [
    ...(firstMissing > 0 ? [{ kind: 'seal removed', sealNumber: firstMissing } as const] : []),
    ...(changed ? [{ kind: 'seal changed', sealNumber: changed.number } as const] : []),
  ];
}

interface SealRow {
  readonly number: number;
  readonly count: number;
  readonly isIntact: boolean;
}

/** Each seal against what it says of its transfers, and against the seal before it. */
const SEALS = namedStatement(`SELECT page.seal_number AS number, page.transfer_count AS count,
              page.previous_hash = coalesce(before.hash, ${GENESIS_HASH})
                AND page.hash = sha256(page.previous_hash || (SELECT string_agg(sealed, ''::bytea ORDER BY nth)
                                                                FROM unnest(page.transfer_hashes) WITH ORDINALITY AS each(sealed, nth))) AS "isIntact"
         FROM (SELECT *, sum(transfer_count) OVER (ORDER BY seal_number) - transfer_count AS transfers_before
                 FROM (SELECT * FROM ledger_seals
                        WHERE seal_number > $after AND seal_number <= $end
                        ORDER BY seal_number LIMIT $sealsMax) AS next) AS page
         LEFT JOIN ledger_seals before ON before.seal_number = page.seal_number - 1
        WHERE page.transfers_before < $transfersMax
        ORDER BY page.seal_number`);

/** The newest seal that there is, or has been when a day was closed. */
const NEWEST = namedStatement(
  `SELECT greatest((SELECT max(seal_number) FROM ledger_seals), (SELECT max(seal_number) FROM ledger_days), 0) AS number`,
);

/**
 * The first transfer of these seals that is not as it was sealed, and the first one that was not sealed. EXCEPT, because the planner
 * takes an array for ten rows, and would look for each transfer among all of them.
 */
const TRANSFERS = namedStatement(`WITH sealed AS (
         SELECT s.seal_number, s.last_txid, s.last_position, nth = s.transfer_count AS is_last, nth, each.transfer_id, each.hash
           FROM ledger_seals s CROSS JOIN unnest(s.transfer_ids, s.transfer_hashes) WITH ORDINALITY AS each(transfer_id, hash, nth)
          WHERE s.seal_number > $after AND s.seal_number <= $last
       ), wrong AS (
         SELECT CASE WHEN t.transfer_id IS NULL THEN 'removed'
                     WHEN ${transferHash('t')} <> sealed.hash THEN 'changed' ELSE 'seal changed' END AS kind,
                sealed.seal_number, sealed.nth, sealed.transfer_id
           FROM sealed LEFT JOIN transfers t ON t.transfer_id = sealed.transfer_id
          WHERE t.transfer_id IS NULL OR ${transferHash('t')} <> sealed.hash
             OR (is_last AND (t.txid, t.position) <> (sealed.last_txid, sealed.last_position))
          ORDER BY sealed.seal_number, sealed.nth LIMIT 1
       ), others AS (
         SELECT t.transfer_id FROM transfers t
          WHERE (t.txid, t.position) <= (SELECT last_txid, last_position FROM ledger_seals WHERE seal_number = $last)
            AND ($after = 0 OR (t.txid, t.position) > (SELECT last_txid, last_position FROM ledger_seals WHERE seal_number = $after))
         EXCEPT SELECT transfer_id FROM sealed
       ), unsealed AS (
         SELECT 'inserted' AS kind, (SELECT min(s.seal_number) FROM ledger_seals s
                                      WHERE s.seal_number > $after AND (s.last_txid, s.last_position) >= (t.txid, t.position)) AS seal_number,
                NULL::bigint AS nth, t.transfer_id
           FROM transfers t
          WHERE t.transfer_id IN (SELECT transfer_id FROM others)
          ORDER BY t.txid, t.position LIMIT 1
       )
       SELECT kind, seal_number AS "sealNumber", transfer_id AS "transferId" FROM (TABLE wrong UNION ALL TABLE unsealed) AS found
        ORDER BY seal_number, nth`);

/** The first day whose root is not the hash of its seal; days before the first seal belong to the first page. */
const ROOTS = namedStatement(`SELECT 'root changed' AS kind, d.seal_number AS "sealNumber", d.day::text
         FROM ledger_days d LEFT JOIN ledger_seals s ON s.seal_number = d.seal_number
        WHERE d.seal_number <= $last AND (d.seal_number > $after OR $after = 0)
          AND d.root <> CASE WHEN d.seal_number = 0 THEN ${GENESIS_HASH} ELSE s.hash END
        ORDER BY d.day LIMIT 1`);
