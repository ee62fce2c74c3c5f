/**
 * Concurrent calls that store payments share one statement. Concurrent calls that read sessions share another
 * statement. Each call gets its own result.
 */
import { randomInt, randomUUID } from 'node:crypto';
import type { HostedPaymentSnapshot } from '@svc/contracts';
import { EventLog } from '@svc/messaging';
import { type HeldLocks, holdLocks, terminateBlockedBackend, waitForBlockedBackends } from '@svc/testing';
import { buildPayment, type Gateway, startGateway } from '../../test/gateway.js';
import { toStoredCopy } from '../payment-copies/payment-copy.js';
import { describePayable, type Session } from './session.js';
import { SessionRepository } from './session.repository.js';

/** Number of statements that the repository runs concurrently. Further calls wait, and share the next statement. */
const CONCURRENT_STATEMENTS = 1;
const CONNECTION_TERMINATED = { driverError: { code: '57P01' } };

let gateway: Gateway;
let template: Session;
/** A repository that has not read any payment, as in another process. */
let sessions: SessionRepository;
beforeAll(async () => {
  gateway = await startGateway();
  const created = await gateway.createSession(await gateway.createMerchant());
  template = (await newRepository().findWithPayments(created))!;
});
beforeEach(() => {
  sessions = newRepository();
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => gateway.stop());

function newRepository(): SessionRepository {
  return new SessionRepository(gateway.dataSource, gateway.service.app.get(EventLog));
}
async function createSessions(count: number): Promise<Session[]> {
  const newSessions = Array.from({ length: count }, () => ({
    ...template,
    ...{ sessionId: randomUUID(), requestId: randomUUID() },
    code: Array.from({ length: 20 }, () => randomInt(10)).join(''),
  }));
  await Promise.all(newSessions.map((session) => newRepository().create(session, 'f'.repeat(64))));
  return newSessions;
}
const buildPaidPayment = (session: Session, version = 2): HostedPaymentSnapshot =>
  buildPayment(describePayable(session), { version });
const listIds = (sessionList: readonly Session[]): string[] => sessionList.map(({ sessionId }) => sessionId);
/** Simulates another process: locks these sessions in a transaction that stays open until `release`. */
const lockInOpenTransaction = (sessionList: readonly Session[]): Promise<HeldLocks> =>
  holdLocks(gateway.dataSource, `SELECT FROM sessions WHERE session_id = ANY ($1::uuid[]) FOR UPDATE`, [
    listIds(sessionList),
  ]);
/** For each session, in the given order: its version, then the references of its payments. */
async function storedVersionsAndPayments(sessionList: readonly Session[]): Promise<unknown[]> {
  const rows = await gateway.dataSource.query<{ id: string; version: number; payments: string[] }[]>(
    `SELECT session_id AS id, payable_version AS version,
            ARRAY(SELECT payment_reference FROM hosted_payments p WHERE p.session_id = s.session_id) AS payments
       FROM sessions s WHERE session_id = ANY ($1::uuid[])`,
    [listIds(sessionList)],
  );
  return sessionList.map(({ sessionId }) => {
    const { version, payments } = rows.find(({ id }) => id === sessionId)!;
    return [version, ...payments];
  });
}
/** Returns a function that returns the number of statements since this call whose text contains `text`. */
function countStatements(text: string): () => number {
  const query = jest.spyOn(gateway.dataSource, 'query');
  return () => query.mock.calls.filter(([statement]) => statement.includes(text)).length;
}

describe('concurrent calls that store payments:', () => {
  const UPSERT_TEXT = 'INSERT INTO hosted_payments';

  test('if the database rejects one of a hundred concurrent payments, all others are stored', async () => {
    const invalidIndex = 60;
    const newSessions = await createSessions(100);
    const payments = newSessions.map((session, index) =>
      index === invalidIndex
        ? buildPayment(describePayable(session), { version: 2, paymentCount: 101 })
        : buildPaidPayment(session),
    );
    await using lock = await lockInOpenTransaction(newSessions.slice(0, CONCURRENT_STATEMENTS));
    const results = Promise.allSettled(payments.map((payment) => sessions.upsertPayment(payment)));
    await waitForBlockedBackends(gateway.dataSource, CONCURRENT_STATEMENTS);
    await lock.release();
    for (const [index, result] of (await results).entries())
      expect(result).toMatchObject(
        index === invalidIndex
          ? { status: 'rejected', reason: { driverError: { code: '23514', constraint: 'sessions_payment_count' } } }
          : { status: 'fulfilled' },
      );
    expect(await storedVersionsAndPayments(newSessions)).toEqual(
      payments.map(({ paymentReference }, index) => (index === invalidIndex ? [1] : [2, paymentReference])),
    );
  });

  test('after concurrent new, outdated and repeated payments each session has the newest version', async () => {
    const newSessions = await createSessions(CONCURRENT_STATEMENTS + 4);
    const [withNew, withOutdated, withTwo, withNone] = newSessions.slice(CONCURRENT_STATEMENTS) as [
      Session,
      Session,
      Session,
      Session,
    ];
    const stored = buildPaidPayment(withOutdated, 5);
    await newRepository().upsertPayments([stored]);
    const [first, second] = [buildPaidPayment(withTwo, 2), buildPaidPayment(withTwo, 3)];
    const outdated = { ...stored, payable: { ...stored.payable, version: 4 } };
    const firstPayments = newSessions.slice(0, CONCURRENT_STATEMENTS).map((session) => buildPaidPayment(session));
    const newPayment = buildPaidPayment(withNew);
    const countNewStatements = countStatements(UPSERT_TEXT);
    await using lock = await lockInOpenTransaction(newSessions.slice(0, CONCURRENT_STATEMENTS));
    const payments = [...firstPayments, newPayment, outdated, second, first];
    const results = payments.map((payment) => sessions.upsertPayment(payment));
    await waitForBlockedBackends(gateway.dataSource, CONCURRENT_STATEMENTS);
    await lock.release();
    await Promise.all(results);
    expect((await storedVersionsAndPayments([withOutdated]))[0]).toEqual([5, stored.paymentReference]);
    expect((await storedVersionsAndPayments([withNew]))[0]).toEqual([2, newPayment.paymentReference]);
    expect((await storedVersionsAndPayments([withNone]))[0]).toEqual([1]);
    const [[version, ...references]] = (await storedVersionsAndPayments([withTwo])) as [[number, ...string[]]];
    expect([version, references.sort()]).toEqual([3, [first.paymentReference, second.paymentReference].sort()]);
    // Of the two batches, one has a payment of each session, and the other has the second payment of a session.
    expect(countNewStatements()).toBe(CONCURRENT_STATEMENTS + 2);
  });

  test('if the connection breaks, no payment is stored, the statement is not retried, and callers can retry', async () => {
    const newSessions = await createSessions(CONCURRENT_STATEMENTS + 49);
    const payments = newSessions.map((session) => buildPaidPayment(session));
    await using firstLock = await lockInOpenTransaction(newSessions.slice(0, CONCURRENT_STATEMENTS));
    await using batchLock = await lockInOpenTransaction(
      newSessions.slice(CONCURRENT_STATEMENTS, CONCURRENT_STATEMENTS + 1),
    );
    const countNewStatements = countStatements(UPSERT_TEXT);
    const firstCalls = payments.slice(0, CONCURRENT_STATEMENTS).map((payment) => sessions.upsertPayment(payment));
    const batchedCalls = Promise.allSettled(
      payments.slice(CONCURRENT_STATEMENTS).map((payment) => sessions.upsertPayment(payment)),
    );
    await waitForBlockedBackends(gateway.dataSource, CONCURRENT_STATEMENTS);
    await firstLock.release();
    await Promise.all(firstCalls);
    await terminateBlockedBackend(gateway.dataSource);
    for (const result of await batchedCalls)
      expect(result).toMatchObject({ status: 'rejected', reason: CONNECTION_TERMINATED });
    expect(countNewStatements()).toBe(CONCURRENT_STATEMENTS + 1);
    await batchLock.release();
    expect(await storedVersionsAndPayments(newSessions.slice(CONCURRENT_STATEMENTS))).toEqual(
      newSessions.slice(CONCURRENT_STATEMENTS).map(() => [1]),
    );
    await Promise.all(payments.map((payment) => sessions.upsertPayment(payment)));
    expect(await storedVersionsAndPayments(newSessions)).toEqual(
      payments.map(({ paymentReference }) => [2, paymentReference]),
    );
  });

  test('sessions and payments are always locked in the order of their ids, whatever the order of the arguments', async () => {
    const newSessions = await createSessions(20);
    const payments = newSessions.map((session) => buildPaidPayment(session));
    const query = jest.spyOn(gateway.dataSource, 'query');
    await sessions.upsertPayments(payments);
    const [snapshots, ids] = query.mock.calls[0]![1] as [HostedPaymentSnapshot[], string[]];
    expect(ids).toEqual(listIds(newSessions).sort());
    const references = payments.map(({ paymentReference }) => paymentReference).sort();
    expect(snapshots.map(({ paymentReference }) => paymentReference)).toEqual(references);
  });
});

describe('concurrent calls that read sessions:', () => {
  const FIND_TEXT = 'CROSS JOIN LATERAL (SELECT session_id';
  const lockTable = (): Promise<HeldLocks> =>
    holdLocks(gateway.dataSource, `LOCK TABLE sessions IN ACCESS EXCLUSIVE MODE`);

  test('each call returns its own session with payments, or undefined if there is none', async () => {
    const newSessions = await createSessions(12);
    const payments = newSessions.slice(0, 6).map((session) => buildPaidPayment(session));
    await sessions.upsertPayments(payments);
    const addresses = newSessions.flatMap(({ sessionId, code }) => [
      ...[{ sessionId }, { sessionId: sessionId.toUpperCase() }, { code: code }],
      ...[{ sessionId: randomUUID() }, { code: '9'.repeat(20) }],
    ]);
    await using lock = await lockTable();
    const countNewStatements = countStatements(FIND_TEXT);
    const results = addresses.map((address) => sessions.findByAddress(address));
    await waitForBlockedBackends(gateway.dataSource, 2 * CONCURRENT_STATEMENTS);
    await lock.release();
    const found = await Promise.all(results);
    const notFound = [undefined, undefined];
    expect(found.map((session) => session?.sessionId)).toEqual(
      listIds(newSessions).flatMap((id) => [id, id, id, ...notFound]),
    );
    const referencesAt = (index: number): string[] =>
      payments.slice(index, index + 1).map(({ paymentReference }) => paymentReference);
    expect(found.map((session) => session?.payments.map(({ paymentReference }) => paymentReference))).toEqual(
      newSessions.flatMap((_, index) => [referencesAt(index), referencesAt(index), referencesAt(index), ...notFound]),
    );
    expect(found[0]).toEqual({
      ...newSessions[0],
      payableState: 'paid',
      payableVersion: 2,
      paymentCount: 1,
      payments: [toStoredCopy(payments[0]!)],
    });
    expect(countNewStatements()).toBeLessThan(addresses.length / 2);
  });

  test('if the connection breaks, all calls fail, the statement is not retried, and callers can retry', async () => {
    const newSessions = await createSessions(CONCURRENT_STATEMENTS + 10);
    await using lock = await lockTable();
    const countNewStatements = countStatements(FIND_TEXT);
    const results = Promise.allSettled(newSessions.map(({ sessionId }) => sessions.findWithPayments(sessionId)));
    const pids = await waitForBlockedBackends(gateway.dataSource, CONCURRENT_STATEMENTS);
    for (const pid of pids) await gateway.dataSource.query(`SELECT pg_terminate_backend($1, 10000)`, [pid]);
    // The next batch now waits for the lock, so its connection is terminated too.
    await terminateBlockedBackend(gateway.dataSource);
    for (const result of await results)
      expect(result).toMatchObject({ status: 'rejected', reason: CONNECTION_TERMINATED });
    expect(countNewStatements()).toBeLessThanOrEqual(CONCURRENT_STATEMENTS + 2);
    await lock.release();
    const found = await Promise.all(newSessions.map(({ sessionId }) => sessions.findWithPayments(sessionId)));
    expect(found.map((session) => session?.sessionId)).toEqual(listIds(newSessions));
  });
});
