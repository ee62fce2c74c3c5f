/**
 * Concurrent requests to create sessions share one INSERT statement. Each caller gets the same response as for a single
 * request.
 */
import { randomInt, randomUUID } from 'node:crypto';
import { SessionCreatedV1 } from '@svc/contracts';
import { EventLog } from '@svc/messaging';
import { type HeldLocks, holdLocks, terminateBlockedBackend, waitForBlockedBackends, waitUntil } from '@svc/testing';
import {
  buildSessionRequest,
  type Gateway,
  type HttpResponse,
  type Merchant,
  startGateway,
} from '../../test/gateway.js';
import { buildTraceparent, runInTrace, startTraces } from '../../test/traces.js';
import type { Session } from './session.js';
import { SessionRepository } from './session.repository.js';

/**
 * Number of INSERT statements that the repository runs concurrently. Further sessions wait, and share the next
 * statement.
 */
const CONCURRENT_STATEMENTS = 1;
const FINGERPRINT = 'f'.repeat(64);

let gateway: Gateway;
let merchant: Merchant;
let sessions: SessionRepository;
let template: Session;
beforeAll(async () => {
  gateway = await startGateway();
  merchant = await gateway.createMerchant();
  sessions = gateway.service.app.get(SessionRepository);
  template = (await sessions.findWithPayments(await gateway.createSession(merchant)))!;
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => gateway.stop());

const create = (requestId: string, overrides: Record<string, unknown> = {}): Promise<HttpResponse> =>
  gateway.call('POST', '/api/v3.1/sessions', {
    headers: merchant.headers,
    payload: buildSessionRequest({ requestId, ...overrides }),
  });
const buildSession = (overrides: Partial<Session> = {}): Session => ({
  ...template,
  sessionId: randomUUID(),
  requestId: randomUUID(),
  code: Array.from({ length: 20 }, () => randomInt(10)).join(''),
  ...overrides,
});
/** Simulates another process: inserts sessions with these requestIds in a transaction that stays open until `release`. */
const insertInOpenTransaction = (requestIds: readonly string[]): Promise<HeldLocks> =>
  holdLocks(
    gateway.dataSource,
    `INSERT INTO sessions
     SELECT (jsonb_populate_record(s, jsonb_build_object('session_id', gen_random_uuid(), 'request_id', id,
                                                      'code', lpad((random() * 1e15)::bigint::text, 20, '0')))).*
       FROM sessions s, unnest($1::text[]) AS id WHERE session_id = $2`,
    [requestIds, template.sessionId],
  );
/** Returns a function that returns the number of INSERT statements into sessions since this call. */
function countInserts(): () => number {
  const query = jest.spyOn(gateway.dataSource, 'query');
  return () => query.mock.calls.filter(([text]) => text.includes('INSERT INTO sessions')).length;
}
const storedSessions = (ids: readonly string[]): Promise<{ id: string; events: number }[]> =>
  gateway.dataSource.query(
    `SELECT session_id AS id, (SELECT count(*) FROM event_log WHERE aggregate_id = session_id::text) AS events
       FROM sessions WHERE session_id = ANY ($1::uuid[]) ORDER BY session_id`,
    [ids],
  );

test('if the database rejects one of a hundred concurrent sessions, only that session fails', async () => {
  const invalidIndex = 60;
  const newSessions = Array.from({ length: 100 }, (_, index) =>
    buildSession(index === invalidIndex ? { amount: 0 } : {}),
  );
  await using lock = await holdLocks(gateway.dataSource, `LOCK TABLE sessions IN SHARE MODE`);
  const countNewInserts = countInserts();
  const results = Promise.allSettled(newSessions.map((session) => sessions.create(session, FINGERPRINT)));
  await waitForBlockedBackends(gateway.dataSource, CONCURRENT_STATEMENTS);
  await lock.release();
  for (const [index, result] of (await results).entries())
    expect(result).toMatchObject(
      index === invalidIndex
        ? { status: 'rejected', reason: { driverError: { code: '23514', constraint: 'sessions_amount' } } }
        : { status: 'fulfilled', value: true },
    );
  const validIds = newSessions.filter((_, index) => index !== invalidIndex).map(({ sessionId }) => sessionId);
  expect(await storedSessions(newSessions.map(({ sessionId }) => sessionId))).toEqual(
    validIds.sort().map((id) => ({ id, events: 1 })),
  );
  // The first session has its own statement, and the others share two statements. After the failure, each session
  // of the failed batch (at most 50) has its own statement.
  expect(countNewInserts()).toBeGreaterThan(CONCURRENT_STATEMENTS + 2);
  expect(countNewInserts()).toBeLessThanOrEqual(CONCURRENT_STATEMENTS + 2 + 50);
});

test('one batch handles new requests, retries, conflicts, and two concurrent requests with one requestId', async () => {
  const [usedId, identicalId, conflictingId] = [randomUUID(), randomUUID(), randomUUID()];
  const first = await create(usedId);
  const before = await gateway.published(SessionCreatedV1);
  await using lock = await holdLocks(gateway.dataSource, `LOCK TABLE sessions IN SHARE MODE`);
  const countNewInserts = countInserts();
  const createCalls = jest.spyOn(sessions, 'create');
  const firstRequests = Array.from({ length: CONCURRENT_STATEMENTS }, () => create(randomUUID()));
  await waitForBlockedBackends(gateway.dataSource, CONCURRENT_STATEMENTS);
  const batchedRequests = [
    create(randomUUID()),
    create(usedId),
    create(usedId, { amount: 1 }),
    create(identicalId),
    create(identicalId),
    create(conflictingId, { amount: 2 }),
    create(conflictingId, { amount: 3 }),
  ];
  await waitUntil('all requests to reach the repository', 10_000, () =>
    Promise.resolve(createCalls.mock.calls.length === firstRequests.length + batchedRequests.length),
  );
  await lock.release();
  const responses = await Promise.all(batchedRequests);
  const summarize = ({ status, headers }: HttpResponse): string =>
    `${status}${headers['idempotency-replayed'] === 'true' ? ' replayed' : ''}`;
  const [created, retried, conflict, ...pairs] = responses;
  expect([created, retried, conflict].map((response) => summarize(response!))).toEqual(['201', '201 replayed', '409']);
  expect(retried!.body.sessionId).toBe(first.body.sessionId);
  expect(pairs.slice(0, 2).map(summarize).sort()).toEqual(['201', '201 replayed']);
  expect(pairs[1]!.body.sessionId).toBe(pairs[0]!.body.sessionId);
  expect(pairs.slice(2).map(summarize).sort()).toEqual(['201', '409']);
  for (const { status } of await Promise.all(firstRequests)) expect(status).toBe(201);
  expect(await gateway.published(SessionCreatedV1)).toHaveLength(before.length + CONCURRENT_STATEMENTS + 3);
  // Of the two batches, one has a request for each requestId, and the other has the second request of each requestId.
  expect(countNewInserts()).toBe(CONCURRENT_STATEMENTS + 2);
  const createdIds = [...new Set(responses.flatMap(({ body }) => (body.sessionId as string | undefined) ?? []))];
  expect(await storedSessions(createdIds)).toEqual(createdIds.sort().map((id) => ({ id, events: 1 })));
});

test('if the connection breaks, no session is created, the statement is not retried, and callers can retry', async () => {
  const firstIds = Array.from({ length: CONCURRENT_STATEMENTS }, () => randomUUID());
  const blockedId = randomUUID();
  const batchIds = [blockedId, ...Array.from({ length: 48 }, () => randomUUID())];
  await using firstLock = await insertInOpenTransaction(firstIds);
  await using batchLock = await insertInOpenTransaction([blockedId]);
  const countNewInserts = countInserts();
  const createCalls = jest.spyOn(sessions, 'create');
  const firstRequests = firstIds.map((requestId) => create(requestId));
  await waitForBlockedBackends(gateway.dataSource, CONCURRENT_STATEMENTS);
  const batchedRequests = batchIds.map((requestId) => create(requestId));
  await waitUntil('all requests to reach the repository', 10_000, () =>
    Promise.resolve(createCalls.mock.calls.length === firstIds.length + batchIds.length),
  );
  await firstLock.release();
  for (const { status } of await Promise.all(firstRequests)) expect(status).toBe(201);
  await terminateBlockedBackend(gateway.dataSource);
  for (const { status, headers } of await Promise.all(batchedRequests))
    expect([status, headers['retry-after']]).toEqual([503, '1']);
  expect(countNewInserts()).toBe(CONCURRENT_STATEMENTS + 1);
  await batchLock.release();
  const rows = `SELECT FROM sessions WHERE request_id = ANY ($1)`;
  expect(await gateway.dataSource.query(rows, [batchIds])).toEqual([]);
  for (const { status } of await Promise.all(batchIds.map((id) => create(id)))) expect(status).toBe(201);
});

test('the event of each session has the trace of the request that created the session', async () => {
  const stopTraces = startTraces();
  const newSessions = Array.from({ length: 9 }, () => buildSession());
  await using lock = await holdLocks(gateway.dataSource, `LOCK TABLE sessions IN SHARE MODE`);
  const results = newSessions.map((session, index) =>
    runInTrace(index + 1, () => sessions.create(session, FINGERPRINT)),
  );
  await waitForBlockedBackends(gateway.dataSource, CONCURRENT_STATEMENTS);
  await lock.release();
  await Promise.all(results);
  stopTraces();
  const events = await gateway.dataSource.query<{ id: string; traceparent: string }[]>(
    `SELECT aggregate_id AS id, traceparent FROM event_log WHERE type = $1 AND aggregate_id = ANY ($2)`,
    [SessionCreatedV1.name, newSessions.map(({ sessionId }) => sessionId)],
  );
  expect(new Map(events.map(({ id, traceparent }) => [id, traceparent]))).toEqual(
    new Map(newSessions.map(({ sessionId }, index) => [sessionId, buildTraceparent(index + 1)])),
  );
});

test('a statement that inserts sessions wakes the relay once, and a statement of retries does not wake it', async () => {
  const onCommitted = jest.spyOn(gateway.service.app.get(EventLog), 'onCommitted');
  const newSessions = Array.from({ length: 9 }, () => buildSession());
  for (const { isCreated, wakeUps } of [
    { isCreated: true, wakeUps: CONCURRENT_STATEMENTS + 1 },
    { isCreated: false, wakeUps: 0 },
  ]) {
    // After a batch of a single call, the next call does not gather.
    await sessions.create(buildSession(), FINGERPRINT);
    onCommitted.mockClear();
    await using lock = await holdLocks(gateway.dataSource, `LOCK TABLE sessions IN SHARE MODE`);
    const results = newSessions.map((session) => sessions.create({ ...session, sessionId: randomUUID() }, FINGERPRINT));
    await waitForBlockedBackends(gateway.dataSource, CONCURRENT_STATEMENTS);
    expect(onCommitted).not.toHaveBeenCalled();
    await lock.release();
    expect(await Promise.all(results)).toEqual(newSessions.map(() => isCreated));
    expect(onCommitted.mock.calls).toEqual(Array.from({ length: wakeUps }, () => [[SessionCreatedV1.name]]));
  }
});
