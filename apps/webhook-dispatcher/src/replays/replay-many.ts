import { type Clock, invalidField } from '@svc/kernel';
import { inTransaction } from '@svc/persistence';
import type { DataSource, EntityManager } from 'typeorm';
import type { DueSignal } from '../delivery/due-signal.js';
import { FIRST_ID } from '../notifications/list-notifications.js';
import { lockSessions } from '../notifications/session-lock.js';
import type { ReplayManyRequest } from './replay-many.request.js';

export interface ReplayedPage {
  /** Due now, each under its id and with the whole schedule before it again. */
  replayed: number;
  /** Left as they are: being sent right now, or a Failed whose session was paid since (E2). */
  skipped: number;
  /** Ask again with it: there are more. Null when this was the last page. */
  after: string | null;
}

/** One transaction; a hundred thousand are a hundred calls, and no lock is held for long. */
const PAGE = 1_000;

interface Found {
  id: string;
  /** Null of a site's: it supersedes nothing, and nothing supersedes it. */
  session_id: string | null;
}

/**
 * Makes many notifications due now (E5), the oldest first, a page at a time: what was delivered is among them where its
 * state is not asked for, since the merchant may have lost it. Throws `request.invalid` where it is not said which.
 */
export async function replayMany(
  dataSource: DataSource,
  clock: Clock,
  due: DueSignal,
  request: ReplayManyRequest,
): Promise<ReplayedPage> {
  return inTransaction(dataSource, async (tx) => {
    const found = await find(tx, request);
    if (found.length === 0) return { replayed: 0, skipped: 0, after: null };
    // As in replay-notification.ts: a success recorded at this moment must be seen.
    await lockSessions(
      tx,
      found.flatMap(({ session_id }) => session_id ?? []),
    );
    const now = clock.now();
    const [replayed] = await tx.query<[{ merchant_id: number; endpoint: string }[], number]>(
      `UPDATE notifications replayed
          SET state = 'pending', next_attempt_at = $2, schedule_position = 0, replayed_at = $2, lease_id = NULL, leased_until = NULL
        WHERE id = ANY($1::uuid[]) AND state <> 'superseded' AND (leased_until IS NULL OR leased_until <= $2)
          AND NOT (payment_status = 'Failed' AND EXISTS (
                SELECT 1 FROM notifications paid WHERE paid.session_id = replayed.session_id AND paid.payment_status = 'Success'))
        RETURNING merchant_id, endpoint`,
      [found.map(({ id }) => id), now],
    );
    // As in replay-notification.ts: one of them is the probe, and the circuit stays until its answer. In one order, or two replays of
    // the same endpoints could wait for each other.
    await tx.query(
      `WITH probed AS MATERIALIZED (
         SELECT merchant_id, endpoint FROM circuits
          WHERE (merchant_id, endpoint) IN (SELECT * FROM unnest($1::bigint[], $2::text[]))
            AND open_until > $3 AND probe_lease_id IS NULL
          ORDER BY merchant_id, endpoint FOR UPDATE)
       UPDATE circuits SET open_until = $3 FROM probed
        WHERE circuits.merchant_id = probed.merchant_id AND circuits.endpoint = probed.endpoint`,
      [replayed.map(({ merchant_id }) => merchant_id), replayed.map(({ endpoint }) => endpoint), now],
    );
    due.afterCommit(tx);
    return {
      replayed: replayed.length,
      skipped: found.length - replayed.length,
      after: found.length < PAGE ? null : found.at(-1)!.id,
    };
  });
}

function find(tx: EntityManager, request: ReplayManyRequest): Promise<Found[]> {
  const { state, merchantId = null, endpoint = null, after = FIRST_ID } = request;
  const since = readSince(request.since);
  if (endpoint !== null && merchantId === null) {
    throw invalidField('merchantId', 'merchantId is required with endpoint: several merchants may share a host');
  }
  if (merchantId !== null && since !== null) {
    return tx.query(
      `SELECT id, session_id FROM notifications
        WHERE merchant_id = $1 AND id > $2 AND created_at >= $3 AND ($4::text IS NULL OR endpoint = $4) AND ($5::text IS NULL OR state = $5)
        ORDER BY id LIMIT ${PAGE}`,
      [merchantId, after, since, endpoint, state ?? null],
    );
  }
  if (state === undefined) throw invalidField('state', 'state, or merchantId and since, must say what to replay');
  // The state is written out, so that its index serves a statement that is planned once; it is one of two words.
  return tx.query(
    `SELECT id, session_id FROM notifications
      WHERE state = '${state}' AND id > $1 AND ($2::bigint IS NULL OR merchant_id = $2) AND ($3::text IS NULL OR endpoint = $3)
        AND ($4::timestamptz IS NULL OR created_at >= $4)
      ORDER BY id LIMIT ${PAGE}`,
    [after, merchantId, endpoint, since],
  );
}

function readSince(text: string | undefined): Date | null {
  if (text === undefined) return null;
  const since = new Date(text);
  if (Number.isNaN(since.getTime())) throw invalidField('since', 'since must be a time that exists');
  return since;
}
