/** Reports of payment-processor that are repeated, late, out of order, or delivered to several processes concurrently. */
import { randomUUID } from 'node:crypto';
import { type EventEnvelope, type HostedPaymentSnapshot, PayableClosedV1, PaymentReversedV1 } from '@svc/contracts';
import { EventLog } from '@svc/messaging';
import { anEvent, waitUntil } from '@svc/testing';
import { aPayment, type Gateway, type Merchant, startGateway } from '../../test/gateway.js';
import { SessionRepository } from './session.repository.js';

let gateway: Gateway;
let merchant: Merchant;
beforeAll(async () => {
  gateway = await startGateway();
  merchant = await gateway.aMerchant();
});
afterAll(() => gateway.stop());

/** A repository that has not read any payment, as in another process. */
const newRepository = (): SessionRepository =>
  new SessionRepository(gateway.dataSource, gateway.service.app.get(EventLog));

interface Reports {
  readonly sessionId: string;
  readonly begun: HostedPaymentSnapshot;
  readonly paid: HostedPaymentSnapshot;
}
async function reports(): Promise<Reports> {
  const sessionId = await gateway.createSession(merchant);
  const paid = aPayment(await gateway.payableOf(sessionId), { version: 3 });
  const begun = { ...paid, state: 'processing' as const, payable: { ...paid.payable, state: 'reserved' as const } };
  return { sessionId, paid, begun: { ...begun, payable: { ...begun.payable, version: 2 } } };
}
/** State and version of the session and of its payment; `xmax` changes when a row is locked or replaced. */
async function kept(sessionId: string): Promise<unknown[]> {
  const [row] = await gateway.dataSource.query<unknown[]>(
    `SELECT s.payable_state AS session, s.payable_version AS "sessionVersion", p.snapshot->>'state' AS payment, p.version,
            s.ctid::text AS "sessionRow", s.xmax::text AS "sessionLock", p.ctid::text AS "paymentRow", p.xmax::text AS "paymentLock"
       FROM sessions s JOIN hosted_payments p USING (session_id) WHERE session_id = $1`,
    [sessionId],
  );
  return row as unknown[];
}
const PAID = { session: 'paid', sessionVersion: 3, payment: 'success', version: 3 };

test('an outdated report changes neither the session nor the payment', async () => {
  const { sessionId, begun, paid } = await reports();
  await newRepository().upsertPayments([paid]);
  const before = await kept(sessionId);
  expect(before).toMatchObject(PAID);
  await newRepository().upsertPayments([begun]);
  expect(await kept(sessionId)).toEqual(before);
});

test.each(['the same process', 'another process'])(
  'a newer report to %s changes both, and no other session',
  async (to) => {
    const [one, other] = [await reports(), await reports()];
    const sessions = newRepository();
    for (const { begun } of [one, other]) await sessions.upsertPayments([begun]);
    await (to === 'the same process' ? sessions : newRepository()).upsertPayments([one.paid]);
    expect(await kept(one.sessionId)).toMatchObject(PAID);
    expect(await kept(other.sessionId)).toMatchObject({ session: 'reserved', payment: 'processing', version: 2 });
  },
);

test('a repeated report neither writes nor locks a row, and costs its own process no statement', async () => {
  const { sessionId, paid } = await reports();
  const sessions = newRepository();
  await sessions.upsertPayments([paid]);
  const before = await kept(sessionId);
  await newRepository().upsertPayments([paid]);
  expect(await kept(sessionId)).toEqual(before);
  const query = jest.spyOn(gateway.dataSource, 'query');
  await sessions.upsertPayments([paid]);
  expect(query).not.toHaveBeenCalled();
  query.mockRestore();
});

test.each(['in order', 'in reverse'])(
  'of several reports in one delivery the newest one is stored, %s',
  async (order) => {
    const { sessionId, begun, paid } = await reports();
    await newRepository().upsertPayments(order === 'in order' ? [begun, paid] : [paid, begun]);
    expect(await kept(sessionId)).toMatchObject(PAID);
  },
);

test.each(['an older', 'the same'])(
  '%s report that waits for the lock of another process does not replace its report',
  async (which) => {
    const { sessionId, begun, paid } = await reports();
    const other = gateway.dataSource.createQueryRunner();
    await other.startTransaction();
    const [{ row }] = (await other.query(
      `INSERT INTO hosted_payments (payment_reference, session_id, snapshot, accepted_at, version) VALUES ($1, $2, $3, now(), 3)
     RETURNING ctid::text AS row`,
      [paid.paymentReference, sessionId, JSON.stringify(paid)],
    )) as [{ row: string }];
    const waiting = newRepository().upsertPayments([which === 'the same' ? paid : begun]);
    await waitUntil('the report to wait', 10_000, async () => {
      const locked = await gateway.dataSource.query<unknown[]>(
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return locked.length > 0;
    });
    await other.commitTransaction();
    await other.release();
    await waiting;
    expect(await kept(sessionId)).toMatchObject({ payment: 'success', version: 3, paymentRow: row });
  },
);

test('a closed payable closes its own session, unless the session has a newer version', async () => {
  const [closed, paid, untouched] = [await reports(), await reports(), await reports()];
  for (const { begun } of [closed, untouched]) await newRepository().upsertPayments([begun]);
  await newRepository().upsertPayments([paid.paid]);
  for (const { sessionId } of [closed, paid])
    await gateway.deliver(
      anEvent(PayableClosedV1, randomUUID(), 3, { payableId: sessionId, state: 'closed', version: 3, tries: 1 }),
    );
  expect(await kept(closed.sessionId)).toMatchObject({ session: 'closed', sessionVersion: 3 });
  expect(await kept(paid.sessionId)).toMatchObject(PAID);
  expect(await kept(untouched.sessionId)).toMatchObject({ session: 'reserved', sessionVersion: 2 });
});

test('the reversal of a known payment is stored, also together with one of an invoice', async () => {
  const { sessionId, paid } = await reports();
  await newRepository().upsertPayments([paid]);
  const reversedUTCDate = gateway.clock.nowISO();
  const invoiceReference = randomUUID();
  const source = { kind: 'invoice' as const, invoiceReference, siteReference: 'TILL-1', code: '0'.repeat(20) };
  const reversed = [{ ...paid, source, paymentReference: `${paid.paymentReference.slice(0, 17)}0` }, paid].map(
    (payment) => anEvent(PaymentReversedV1, randomUUID(), 1, { ...payment, reversedUTCDate }),
  );
  await gateway.deliver(...(reversed as EventEnvelope[]));
  expect((await newRepository().findWithPayments(sessionId))?.payments).toEqual([
    { ...paid, reversedUTCDate: expect.any(String) as string },
  ]);
  expect(await gateway.dataSource.query(`SELECT * FROM dead_letters`)).toEqual([]);
});

test('the query returns versions only of the requested sessions', async () => {
  const [one] = [await reports(), await reports()];
  expect(await newRepository().versionsOf([one.sessionId])).toEqual(new Map([[one.sessionId, 1]]));
});
