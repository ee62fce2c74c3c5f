import { Injectable } from '@nestjs/common';
import { isoTime } from '@svc/messaging';
import { type NamedStatement, namedStatement } from '@svc/persistence';
import type { EntityManager } from 'typeorm';
import { GENESIS_HASH, transferHash } from './transfer-hash.js';

/** A deviation from the sealed ledger. */
export interface LedgerFinding {
  readonly kind: FindingKind;
  readonly sealNumber: number;
  readonly transferId?: string;
  /** Of a closing: ISO 8601 UTC. */
  readonly closedUntilUTCDate?: string;
}

type FindingKind =
  /** A transfer differs from its sealed hash. */
  | 'changed'
  /** A sealed transfer is missing. */
  | 'removed'
  /** A transfer is in the range of a seal, but the seal does not contain it. */
  | 'inserted'
  /** A seal was changed: its hash, the previous hash, its transfers or its end. */
  | 'seal changed'
  | 'seal removed'
  /** The root of a closing is not the hash of its seal. */
  | 'root changed';

/** Limits of a page of seals. A page has at least one seal. */
export interface PageBounds {
  readonly sealsMax: number;
  /** The page ends with the seal that reaches this number of transfers. */
  readonly transfersMax: number;
}

export interface CheckedSeal {
  readonly number: number;
  readonly count: number;
  readonly isIntact: boolean;
}

/** Compares the transfers, seals and closings after one seal with the sealed hashes. Needs the default planner (ADR 37). */
@Injectable()
export class LedgerCheckQuery {
  /** Number of the newest seal, even if that seal was removed. 0 before the first seal. */
  async findNewestSealNumber(tx: EntityManager): Promise<number> {
    const [newest] = await queryRows<{ number: number }>(tx, NEWEST, {});
    return newest?.number ?? 0;
  }

  checkSeals(tx: EntityManager, after: number, end: number, bounds: PageBounds): Promise<CheckedSeal[]> {
    return queryRows<CheckedSeal>(tx, SEALS, { after, end, ...bounds });
  }

  findTransferDeviations(tx: EntityManager, after: number, last: number): Promise<LedgerFinding[]> {
    return queryRows<LedgerFinding>(tx, TRANSFERS, { after, last });
  }

  findRootDeviations(tx: EntityManager, after: number, last: number): Promise<LedgerFinding[]> {
    return queryRows<LedgerFinding>(tx, ROOTS, { after, last });
  }
}

function queryRows<Row>(tx: EntityManager, { text, valuesOf }: NamedStatement, values: object): Promise<Row[]> {
  return tx.query<Row[]>(text, valuesOf({ ...values }));
}

/** Checks each seal against its transfer hashes and the previous seal. */
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

/** The number of the newest seal, or the number in the newest closing if it is greater. */
const NEWEST = namedStatement(
  `SELECT greatest((SELECT max(seal_number) FROM ledger_seals), (SELECT max(seal_number) FROM ledger_closings), 0) AS number`,
);

/**
 * Finds the first transfer of these seals that differs from its sealed hash, and the first transfer that was not
 * sealed. The statement uses EXCEPT, because the planner estimates that an array has only ten elements. Without EXCEPT,
 * PostgreSQL would search all arrays for each transfer.
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

/** Finds the first closing whose root is not the hash of its seal. Closings before the first seal belong to the first page. */
const ROOTS =
  namedStatement(`SELECT 'root changed' AS kind, d.seal_number AS "sealNumber", ${isoTime('d.closed_until')} AS "closedUntilUTCDate"
         FROM ledger_closings d LEFT JOIN ledger_seals s ON s.seal_number = d.seal_number
        WHERE d.seal_number <= $last AND (d.seal_number > $after OR $after = 0)
          AND d.root <> CASE WHEN d.seal_number = 0 THEN ${GENESIS_HASH} ELSE s.hash END
        ORDER BY d.closed_until LIMIT 1`);
