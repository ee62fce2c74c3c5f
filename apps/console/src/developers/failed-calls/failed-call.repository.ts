import type { FailedCall } from '@svc/contracts';
import { isoTime } from '@svc/messaging';
import type { DataSource, EntityManager } from 'typeorm';
import type { PaymentScope } from '../../viewer/payment-scope.js';

/** Calls of a merchant in a mode. Older ones are deleted when newer ones are stored. */
export const MAX_CALLS_PER_MERCHANT = 1_000;

/** Where the next page begins: after this call. */
export interface CallPosition {
  readonly calledAt: Date;
  readonly requestId: string;
}

const INSERT = `
  INSERT INTO failed_calls (request_id, merchant_id, site_id, mode, method, path, status_code, error_code, called_at)
  SELECT c."requestId", c."merchantId", c."siteId", c.mode, c.method, c.path, c."statusCode", coalesce(c."errorCode", ''), c."calledUTCDate"
    FROM json_to_recordset($1::json) AS c ("requestId" uuid, "merchantId" bigint, "siteId" bigint, mode text, method text, path text,
                                          "statusCode" int, "errorCode" text, "calledUTCDate" timestamptz)
   ORDER BY c."requestId"
  ON CONFLICT DO NOTHING`;

/** $1 merchant, $2 mode. */
const DELETE_OVER_LIMIT = `
  DELETE FROM failed_calls WHERE request_id IN (
    SELECT request_id FROM failed_calls WHERE merchant_id = $1 AND mode = $2
     ORDER BY called_at DESC, request_id DESC OFFSET ${MAX_CALLS_PER_MERCHANT})`;

/** Stores calls, and deletes the oldest of their merchants over the limit. A call that is stored already is skipped. */
export async function storeFailedCalls(tx: EntityManager, calls: readonly FailedCall[]): Promise<void> {
  await tx.query(INSERT, [JSON.stringify(calls)]);
  const owners = new Map(calls.map(({ merchantId, mode }) => [`${merchantId} ${mode}`, [merchantId, mode]]));
  for (const [, owner] of [...owners].sort()) await tx.query(DELETE_OVER_LIMIT, owner);
}

/** $1 merchant, $2 mode, $3 sites or NULL, $4 and $5 position, $6 limit. */
const LIST = `
  SELECT request_id AS "requestId", merchant_id AS "merchantId", site_id AS "siteId", mode, method, path,
         status_code AS "statusCode", error_code AS "errorCode", ${isoTime('called_at')} AS "calledUTCDate"
    FROM failed_calls
   WHERE merchant_id = $1 AND mode = $2 AND ($3::bigint[] IS NULL OR site_id = ANY ($3))
     AND (called_at, request_id) < ($4::timestamptz, $5::uuid)
   ORDER BY called_at DESC, request_id DESC LIMIT $6`;

/** Later than every call. */
const NEWEST: CallPosition = {
  calledAt: new Date('9999-01-01T00:00:00Z'),
  requestId: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
};

/** The calls of the scope, the newest first. A person of some sites does not see calls without a site. */
export function listFailedCalls(
  dataSource: DataSource,
  { merchantId, mode, sites }: PaymentScope,
  { calledAt, requestId }: CallPosition = NEWEST,
  limit: number,
): Promise<FailedCall[]> {
  return dataSource.query(LIST, [merchantId, mode, sites === 'all' ? null : sites, calledAt, requestId, limit]);
}

/** Deletes at most `max` calls before this time. Returns their number. */
export async function deleteFailedCallsBefore(db: EntityManager, time: Date, max: number): Promise<number> {
  const [, deleted] = await db.query<[unknown, number]>(
    `DELETE FROM failed_calls WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM failed_calls WHERE called_at < $1 ORDER BY called_at LIMIT $2 FOR UPDATE SKIP LOCKED))`,
    [time, max],
  );
  return deleted;
}
