/** Concurrent writes of payments and reads of sessions share a statement, and each call gets its own result. */
import { randomInt, randomUUID } from 'node:crypto';
import type { HostedPaymentSnapshot } from '@svc/contracts';
import { EventLog } from '@svc/messaging';
import { type HeldLocks, holdLocks, terminateBlockedBackend, waitForBlockedBackends } from '@svc/testing';
import { aPayment, type Gateway, startGateway } from '../../test/gateway.js';
import { payableOf, type Session } from './session.js';
import { SessionRepository } from './session.repository.js';

/** Number of concurrent statements before calls share one. */
const AT_ONCE = 1;
const CUT_OFF = { driverError: { code: '57P01' } };

let gateway: Gateway;
let template: Session;
/** A repository that has not read any payment, as in another process. */
let sessions: SessionRepository;
beforeAll(async () => {
  gateway = await startGateway();
  const created = await gateway.createSession(await gateway.aMerchant());
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
  const given = Array.from({ length: count }, () => ({
    ...template,
    ...{ sessionId: randomUUID(), requestId: randomUUID() },
    code: Array.from({ length: 20 }, () => randomInt(10)).join(''),
  }));
  await Promise.all(given.map((session) => newRepository().create(session, 'f'.repeat(64))));
  return given;
}
const paid = (session: Session, version = 2): HostedPaymentSnapshot => aPayment(payableOf(session), { version });
const idsOf = (given: readonly Session[]): string[] => given.map(({ sessionId }) => sessionId);
/** Simulates another process that has changed these sessions and does not commit. */
const changeElsewhere = (given: readonly Session[]): Promise<HeldLocks> =>
  holdLocks(gateway.dataSource, `SELECT FROM sessions WHERE session_id = ANY ($1::uuid[]) FOR UPDATE`, [idsOf(given)]);
/** Payments and versions of the sessions, in their order. */
async function kept(given: readonly Session[]): Promise<unknown[]> {
  const rows = await gateway.dataSource.query<{ id: string; version: number; payments: string[] }[]>(
    `SELECT session_id AS id, payable_version AS version,
            ARRAY(SELECT payment_reference FROM hosted_payments p WHERE p.session_id = s.session_id) AS payments
       FROM sessions s WHERE session_id = ANY ($1::uuid[])`,
    [idsOf(given)],
  );
  return given.map(({ sessionId }) => {
    const { version, payments } = rows.find(({ id }) => id === sessionId)!;
    return [version, ...payments];
  });
}
/** Returns a function with the number of statements since this call that contain `part`. */
function countOf(part: string): () => number {
  const query = jest.spyOn(gateway.dataSource, 'query');
  return () => query.mock.calls.filter(([text]) => text.includes(part)).length;
}

describe('payments', () => {
  const KEEPS = 'INSERT INTO hosted_payments';

  test('of a hundred payments with one that the database rejects, only that one is not stored', async () => {
    const [bad, given] = [60, await createSessions(100)];
    const payments = given.map((session, nth) =>
      nth === bad ? aPayment(payableOf(session), { version: 2, tries: 101 }) : paid(session),
    );
    const lock = await changeElsewhere(given.slice(0, AT_ONCE));
    const results = Promise.allSettled(payments.map((payment) => sessions.upsertPayment(payment)));
    await waitForBlockedBackends(gateway.dataSource, AT_ONCE);
    await lock.release();
    for (const [nth, result] of (await results).entries())
      expect(result).toMatchObject(
        nth === bad
          ? { status: 'rejected', reason: { driverError: { code: '23514', constraint: 'sessions_tries' } } }
          : { status: 'fulfilled' },
      );
    expect(await kept(given)).toEqual(
      payments.map(({ paymentReference }, nth) => (nth === bad ? [1] : [2, paymentReference])),
    );
  });

  test('after new, outdated and repeated payments each session has the newest one', async () => {
    const given = await createSessions(AT_ONCE + 4);
    const [fresh, older, twice, unknown] = given.slice(AT_ONCE) as [Session, Session, Session, Session];
    const known = paid(older, 5);
    await newRepository().upsertPayments([known]);
    const [first, second] = [paid(twice, 2), paid(twice, 3)];
    const stale = { ...known, payable: { ...known.payable, version: 4 } };
    const statements = countOf(KEEPS);
    const lock = await changeElsewhere(given.slice(0, AT_ONCE));
    const payments = [...given.slice(0, AT_ONCE).map((session) => paid(session)), paid(fresh), stale, second, first];
    const results = payments.map((payment) => sessions.upsertPayment(payment));
    await waitForBlockedBackends(gateway.dataSource, AT_ONCE);
    await lock.release();
    await Promise.all(results);
    expect((await kept([older]))[0]).toEqual([5, known.paymentReference]);
    expect((await kept([fresh]))[0]).toEqual([2, payments[AT_ONCE]!.paymentReference]);
    expect((await kept([unknown]))[0]).toEqual([1]);
    const [[version, ...references]] = (await kept([twice])) as [[number, ...string[]]];
    expect([version, references.sort()]).toEqual([3, [first.paymentReference, second.paymentReference].sort()]);
    // One for the different sessions, and one for the second payment of a session.
    expect(statements()).toBe(AT_ONCE + 2);
  });

  test('a broken connection stores no payment and causes no automatic retry; each call may be repeated', async () => {
    const given = await createSessions(AT_ONCE + 49);
    const payments = given.map((session) => paid(session));
    const [first, second] = [
      await changeElsewhere(given.slice(0, AT_ONCE)),
      await changeElsewhere(given.slice(AT_ONCE, AT_ONCE + 1)),
    ];
    const statements = countOf(KEEPS);
    const alone = payments.slice(0, AT_ONCE).map((payment) => sessions.upsertPayment(payment));
    const together = Promise.allSettled(payments.slice(AT_ONCE).map((payment) => sessions.upsertPayment(payment)));
    await waitForBlockedBackends(gateway.dataSource, AT_ONCE);
    await first.release();
    await Promise.all(alone);
    await terminateBlockedBackend(gateway.dataSource);
    for (const result of await together) expect(result).toMatchObject({ status: 'rejected', reason: CUT_OFF });
    expect(statements()).toBe(AT_ONCE + 1);
    await second.release();
    expect(await kept(given.slice(AT_ONCE))).toEqual(given.slice(AT_ONCE).map(() => [1]));
    await Promise.all(payments.map((payment) => sessions.upsertPayment(payment)));
    expect(await kept(given)).toEqual(payments.map(({ paymentReference }) => [2, paymentReference]));
  });

  test('locks sessions and payments in the same order for any order of arguments', async () => {
    const given = await createSessions(20);
    const payments = given.map((session) => paid(session));
    const query = jest.spyOn(gateway.dataSource, 'query');
    await sessions.upsertPayments(payments);
    const [snapshots, ids] = query.mock.calls[0]![1] as [HostedPaymentSnapshot[], string[]];
    expect(ids).toEqual(idsOf(given).sort());
    const references = payments.map(({ paymentReference }) => paymentReference).sort();
    expect(snapshots.map(({ paymentReference }) => paymentReference)).toEqual(references);
  });
});

describe('sessions', () => {
  const FINDS = 'CROSS JOIN LATERAL (SELECT session_id';
  const lockAll = (): Promise<HeldLocks> =>
    holdLocks(gateway.dataSource, `LOCK TABLE sessions IN ACCESS EXCLUSIVE MODE`);

  test('each call gets its own session with payments, or undefined', async () => {
    const given = await createSessions(12);
    const payments = given.slice(0, 6).map((session) => paid(session));
    await sessions.upsertPayments(payments);
    const addresses = given.flatMap(({ sessionId, code }) => [
      ...[{ sessionId }, { sessionId: sessionId.toUpperCase() }, { code: code! }],
      ...[{ sessionId: randomUUID() }, { code: '9'.repeat(20) }],
    ]);
    const lock = await lockAll();
    const statements = countOf(FINDS);
    const results = addresses.map((address) => sessions.findByAddress(address));
    await waitForBlockedBackends(gateway.dataSource, 2 * AT_ONCE);
    await lock.release();
    const found = await Promise.all(results);
    const none = [undefined, undefined];
    expect(found.map((one) => one?.sessionId)).toEqual(idsOf(given).flatMap((id) => [id, id, id, ...none]));
    const referenceOf = (nth: number): string[] => payments.slice(nth, nth + 1).map((one) => one.paymentReference);
    expect(found.map((one) => one?.payments.map(({ paymentReference }) => paymentReference))).toEqual(
      given.flatMap((_, nth) => [referenceOf(nth), referenceOf(nth), referenceOf(nth), ...none]),
    );
    expect(found[0]).toEqual({
      ...given[0],
      payableState: 'paid',
      payableVersion: 2,
      tries: 1,
      payments: [payments[0]],
    });
    expect(statements()).toBeLessThan(addresses.length / 2);
  });

  test('after a broken connection no call gets a session, and there is no automatic retry', async () => {
    const given = await createSessions(AT_ONCE + 10);
    const lock = await lockAll();
    const statements = countOf(FINDS);
    const results = Promise.allSettled(given.map(({ sessionId }) => sessions.findWithPayments(sessionId)));
    const pids = await waitForBlockedBackends(gateway.dataSource, AT_ONCE);
    for (const pid of pids) await gateway.dataSource.query(`SELECT pg_terminate_backend($1, 10000)`, [pid]);
    await terminateBlockedBackend(gateway.dataSource);
    for (const result of await results) expect(result).toMatchObject({ status: 'rejected', reason: CUT_OFF });
    expect(statements()).toBeLessThanOrEqual(AT_ONCE + 2);
    await lock.release();
    const found = await Promise.all(given.map(({ sessionId }) => sessions.findWithPayments(sessionId)));
    expect(found.map((one) => one?.sessionId)).toEqual(idsOf(given));
  });
});
