/** Concurrent requests for new sessions share a statement; each gets the same response as it would alone. */
import { randomInt, randomUUID } from 'node:crypto';
import { SessionCreatedV1 } from '@svc/contracts';
import { EventLog } from '@svc/messaging';
import { type HeldLocks, holdLocks, terminateBlockedBackend, waitForBlockedBackends, waitUntil } from '@svc/testing';
import { type Answer, aSessionRequest, type Gateway, type Merchant, startGateway } from '../../test/gateway.js';
import { inTrace, startTraces, traceparentOf } from '../../test/traces.js';
import type { Session } from './session.js';
import { SessionRepository } from './session.repository.js';

/** Number of concurrent statements before calls share one. */
const AT_ONCE = 1;
const FINGERPRINT = 'f'.repeat(64);

let gateway: Gateway;
let merchant: Merchant;
let sessions: SessionRepository;
let template: Session;
beforeAll(async () => {
  gateway = await startGateway();
  merchant = await gateway.aMerchant();
  sessions = gateway.service.app.get(SessionRepository);
  template = (await sessions.findWithPayments(await gateway.createSession(merchant)))!;
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => gateway.stop());

const create = (requestId: string, over: Record<string, unknown> = {}): Promise<Answer> =>
  gateway.call('POST', '/api/v3.1/sessions', {
    headers: merchant.headers,
    payload: aSessionRequest({ requestId, ...over }),
  });
const aSession = (over: Partial<Session> = {}): Session => ({
  ...template,
  sessionId: randomUUID(),
  requestId: randomUUID(),
  code: Array.from({ length: 20 }, () => randomInt(10)).join(''),
  ...over,
});
/** Simulates another process that inserts sessions with these requestIds and does not commit. */
const beginElsewhere = (requestIds: readonly string[]): Promise<HeldLocks> =>
  holdLocks(
    gateway.dataSource,
    `INSERT INTO sessions
     SELECT (jsonb_populate_record(s, jsonb_build_object('session_id', gen_random_uuid(), 'request_id', id, 'code', null))).*
       FROM sessions s, unnest($1::text[]) AS id WHERE session_id = $2`,
    [requestIds, template.sessionId],
  );
/** Returns a function with the number of INSERTs into sessions since this call. */
function countInserts(): () => number {
  const query = jest.spyOn(gateway.dataSource, 'query');
  return () => query.mock.calls.filter(([text]) => text.includes('INSERT INTO sessions')).length;
}
const kept = (ids: readonly string[]): Promise<{ id: string; events: number }[]> =>
  gateway.dataSource.query(
    `SELECT session_id AS id, (SELECT count(*) FROM event_log WHERE aggregate_id = session_id::text) AS events
       FROM sessions WHERE session_id = ANY ($1::uuid[]) ORDER BY session_id`,
    [ids],
  );

test('of a hundred sessions with one that the database rejects, only that one fails', async () => {
  const bad = 60;
  const given = Array.from({ length: 100 }, (_, nth) => aSession(nth === bad ? { amount: 0 } : {}));
  const lock = await holdLocks(gateway.dataSource, `LOCK TABLE sessions IN SHARE MODE`);
  const inserts = countInserts();
  const results = Promise.allSettled(given.map((session) => sessions.create(session, FINGERPRINT)));
  await waitForBlockedBackends(gateway.dataSource, AT_ONCE);
  await lock.release();
  for (const [nth, result] of (await results).entries())
    expect(result).toMatchObject(
      nth === bad
        ? { status: 'rejected', reason: { driverError: { code: '23514', constraint: 'sessions_amount' } } }
        : { status: 'fulfilled', value: true },
    );
  const good = given.filter((_, nth) => nth !== bad).map(({ sessionId }) => sessionId);
  expect(await kept(given.map(({ sessionId }) => sessionId))).toEqual(good.sort().map((id) => ({ id, events: 1 })));
  // One alone and two batches; then each session of the failed batch, at most 50, alone.
  expect(inserts()).toBeGreaterThan(AT_ONCE + 2);
  expect(inserts()).toBeLessThanOrEqual(AT_ONCE + 2 + 50);
});

test('one batch handles new requests, retries, conflicts, and two concurrent requests with one requestId', async () => {
  const [known, racing, clashing] = [randomUUID(), randomUUID(), randomUUID()];
  const first = await create(known);
  const before = await gateway.published(SessionCreatedV1);
  const lock = await holdLocks(gateway.dataSource, `LOCK TABLE sessions IN SHARE MODE`);
  const inserts = countInserts();
  const called = jest.spyOn(sessions, 'create');
  const alone = Array.from({ length: AT_ONCE }, () => create(randomUUID()));
  await waitForBlockedBackends(gateway.dataSource, AT_ONCE);
  const together = [
    create(randomUUID()),
    create(known),
    create(known, { amount: 1 }),
    create(racing),
    create(racing),
    create(clashing, { amount: 2 }),
    create(clashing, { amount: 3 }),
  ];
  await waitUntil('all to be under way', 10_000, () =>
    Promise.resolve(called.mock.calls.length === alone.length + together.length),
  );
  await lock.release();
  const answers = await Promise.all(together);
  const shortOf = ({ status, headers }: Answer): string =>
    `${status}${headers['idempotency-replayed'] === 'true' ? ' replayed' : ''}`;
  const [fresh, repeat, conflict, ...races] = answers;
  expect([fresh, repeat, conflict].map((one) => shortOf(one!))).toEqual(['201', '201 replayed', '409']);
  expect(repeat!.body.sessionId).toBe(first.body.sessionId);
  expect(races.slice(0, 2).map(shortOf).sort()).toEqual(['201', '201 replayed']);
  expect(races[1]!.body.sessionId).toBe(races[0]!.body.sessionId);
  expect(races.slice(2).map(shortOf).sort()).toEqual(['201', '409']);
  for (const answer of await Promise.all(alone)) expect(answer.status).toBe(201);
  expect(await gateway.published(SessionCreatedV1)).toHaveLength(before.length + AT_ONCE + 3);
  // One for the different requestIds, and one for the second request of each.
  expect(inserts()).toBe(AT_ONCE + 2);
  const made = [...new Set(answers.flatMap(({ body }) => (body.sessionId as string | undefined) ?? []))];
  expect(await kept(made)).toEqual(made.sort().map((id) => ({ id, events: 1 })));
});

test('a broken connection creates no session and causes no automatic retry; each caller may retry', async () => {
  const [held, blocked] = [Array.from({ length: AT_ONCE }, () => randomUUID()), randomUUID()];
  const others = [blocked, ...Array.from({ length: 48 }, () => randomUUID())];
  const [first, second] = [await beginElsewhere(held), await beginElsewhere([blocked])];
  const inserts = countInserts();
  const called = jest.spyOn(sessions, 'create');
  const alone = held.map((requestId) => create(requestId));
  await waitForBlockedBackends(gateway.dataSource, AT_ONCE);
  const together = others.map((requestId) => create(requestId));
  await waitUntil('all to be under way', 10_000, () =>
    Promise.resolve(called.mock.calls.length === held.length + others.length),
  );
  await first.release();
  for (const { status } of await Promise.all(alone)) expect(status).toBe(201);
  await terminateBlockedBackend(gateway.dataSource);
  for (const { status, headers } of await Promise.all(together))
    expect([status, headers['retry-after']]).toEqual([503, '1']);
  expect(inserts()).toBe(AT_ONCE + 1);
  await second.release();
  const rows = `SELECT FROM sessions WHERE request_id = ANY ($1)`;
  expect(await gateway.dataSource.query(rows, [others])).toEqual([]);
  for (const { status } of await Promise.all(others.map((id) => create(id)))) expect(status).toBe(201);
});

test('each event has the trace of its own request', async () => {
  const endTraces = startTraces();
  const given = Array.from({ length: 9 }, () => aSession());
  const lock = await holdLocks(gateway.dataSource, `LOCK TABLE sessions IN SHARE MODE`);
  const results = given.map((session, nth) => inTrace(nth + 1, () => sessions.create(session, FINGERPRINT)));
  await waitForBlockedBackends(gateway.dataSource, AT_ONCE);
  await lock.release();
  await Promise.all(results);
  endTraces();
  const events = await gateway.dataSource.query<{ id: string; traceparent: string }[]>(
    `SELECT aggregate_id AS id, traceparent FROM event_log WHERE type = $1 AND aggregate_id = ANY ($2)`,
    [SessionCreatedV1.name, given.map(({ sessionId }) => sessionId)],
  );
  expect(new Map(events.map(({ id, traceparent }) => [id, traceparent]))).toEqual(
    new Map(given.map(({ sessionId }, nth) => [sessionId, traceparentOf(nth + 1)])),
  );
});

test('each statement that inserts a session wakes the relay once; retries do not', async () => {
  const committed = jest.spyOn(gateway.service.app.get(EventLog), 'onCommitted');
  const given = Array.from({ length: 9 }, () => aSession());
  for (const [created, woken] of [
    [true, AT_ONCE + 1],
    [false, 0],
  ] as const) {
    committed.mockClear();
    const lock = await holdLocks(gateway.dataSource, `LOCK TABLE sessions IN SHARE MODE`);
    const results = given.map((session) => sessions.create({ ...session, sessionId: randomUUID() }, FINGERPRINT));
    await waitForBlockedBackends(gateway.dataSource, AT_ONCE);
    expect(committed).not.toHaveBeenCalled();
    await lock.release();
    expect(await Promise.all(results)).toEqual(given.map(() => created));
    expect(committed.mock.calls).toEqual(Array.from({ length: woken }, () => [[SessionCreatedV1.name]]));
  }
});
