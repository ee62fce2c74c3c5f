/** Payments that payment-processor reports repeatedly, late, out of order, or to several processes concurrently. */
import { randomUUID } from 'node:crypto';
import {
  type EventEnvelope,
  type HostedPaymentSnapshot,
  PayableClosedV1,
  type PaymentInProgress,
  PaymentReversedV1,
} from '@svc/contracts';
import { EventLog } from '@svc/messaging';
import { anEvent, inProgress, openTransaction, waitForBlockedBackends } from '@svc/testing';
import { buildPayment, type Gateway, type Merchant, startGateway } from '../../test/gateway.js';
import { toStoredCopy } from '../payment-copies/payment-copy.js';
import { SessionRepository } from './session.repository.js';

let gateway: Gateway;
let merchant: Merchant;
beforeAll(async () => {
  gateway = await startGateway();
  merchant = await gateway.createMerchant();
});
afterAll(() => gateway.stop());

/** A repository that has not read any payment, as in another process. */
const newRepository = (): SessionRepository =>
  new SessionRepository(gateway.dataSource, gateway.service.app.get(EventLog));

interface SessionWithReports {
  readonly sessionId: string;
  /** The report that a payment is processing, with version 2. */
  readonly processing: PaymentInProgress;
  /** The report that the same payment succeeded, with version 3. */
  readonly paid: HostedPaymentSnapshot;
}
async function createSessionWithReports(): Promise<SessionWithReports> {
  const sessionId = await gateway.createSession(merchant);
  const paid = buildPayment(await gateway.findPublishedPayable(sessionId), { version: 3 });
  const payable = { ...paid.payable, state: 'reserved' as const, version: 2 };
  return { sessionId, paid, processing: inProgress({ ...paid, payable }) };
}
/**
 * Returns state and version of the session and its payment. `ctid` changes when a row is replaced, `xmax` when a row is locked
 * or replaced.
 */
async function readRows(sessionId: string): Promise<unknown[]> {
  const [row] = await gateway.dataSource.query<unknown[]>(
    `SELECT s.payable_state AS session, s.payable_version AS "sessionVersion", p.snapshot->>'state' AS payment, p.version,
            s.ctid::text AS "sessionRow", s.xmax::text AS "sessionLock", p.ctid::text AS "paymentRow", p.xmax::text AS "paymentLock"
       FROM sessions s JOIN hosted_payments p USING (session_id) WHERE session_id = $1`,
    [sessionId],
  );
  return row as unknown[];
}
const PAID = { session: 'paid', sessionVersion: 3, payment: 'success', version: 3 };

test('a report with an older version changes neither the session nor the payment', async () => {
  const { sessionId, processing, paid } = await createSessionWithReports();
  await newRepository().upsertPayments([paid]);
  const before = await readRows(sessionId);
  expect(before).toMatchObject(PAID);
  await newRepository().upsertPayments([processing]);
  expect(await readRows(sessionId)).toEqual(before);
});

test.each(['the same process', 'another process'])(
  'a report with a newer version, stored by %s, changes the payment and its session, and no other session',
  async (storedBy) => {
    const [changed, unchanged] = [await createSessionWithReports(), await createSessionWithReports()];
    const sessions = newRepository();
    for (const { processing } of [changed, unchanged]) await sessions.upsertPayments([processing]);
    await (storedBy === 'the same process' ? sessions : newRepository()).upsertPayments([changed.paid]);
    expect(await readRows(changed.sessionId)).toMatchObject(PAID);
    expect(await readRows(unchanged.sessionId)).toMatchObject({
      session: 'reserved',
      payment: 'processing',
      version: 2,
    });
  },
);

test('a repeated report writes and locks no row, and the process that stored the report sends no statement', async () => {
  const { sessionId, paid } = await createSessionWithReports();
  const sessions = newRepository();
  await sessions.upsertPayments([paid]);
  const before = await readRows(sessionId);
  await newRepository().upsertPayments([paid]);
  expect(await readRows(sessionId)).toEqual(before);
  const query = jest.spyOn(gateway.dataSource, 'query');
  await sessions.upsertPayments([paid]);
  expect(query).not.toHaveBeenCalled();
  query.mockRestore();
});

test.each(['in the order of their versions', 'in reverse order'])(
  'if one delivery contains two reports %s, the report with the newest version is stored',
  async (order) => {
    const { sessionId, processing, paid } = await createSessionWithReports();
    await newRepository().upsertPayments(
      order === 'in the order of their versions' ? [processing, paid] : [paid, processing],
    );
    expect(await readRows(sessionId)).toMatchObject(PAID);
  },
);

test.each(['an older', 'an identical'])(
  '%s report that waits for the row lock of another process does not replace the report of that process',
  async (kind) => {
    const { sessionId, processing, paid } = await createSessionWithReports();
    await using otherProcess = await openTransaction(gateway.dataSource);
    const [{ row }] = await otherProcess.query<[{ row: string }]>(
      `INSERT INTO hosted_payments (payment_reference, session_id, snapshot, accepted_at, version) VALUES ($1, $2, $3, now(), 3)
     RETURNING ctid::text AS row`,
      [paid.paymentReference, sessionId, JSON.stringify(paid)],
    );
    const waiting = newRepository().upsertPayments([kind === 'an identical' ? paid : processing]);
    await waitForBlockedBackends(gateway.dataSource, 1);
    await otherProcess.commit();
    await waiting;
    expect(await readRows(sessionId)).toMatchObject({ payment: 'success', version: 3, paymentRow: row });
  },
);

test('a PayableClosed event closes only the session of its payable, and only if the session has no newer version', async () => {
  const [closed, paid, untouched] = [
    await createSessionWithReports(),
    await createSessionWithReports(),
    await createSessionWithReports(),
  ];
  for (const { processing } of [closed, untouched]) await newRepository().upsertPayments([processing]);
  await newRepository().upsertPayments([paid.paid]);
  for (const { sessionId } of [closed, paid])
    await gateway.deliver(
      anEvent(PayableClosedV1, randomUUID(), 3, { payableId: sessionId, state: 'closed', version: 3, paymentCount: 1 }),
    );
  expect(await readRows(closed.sessionId)).toMatchObject({ session: 'closed', sessionVersion: 3 });
  expect(await readRows(paid.sessionId)).toMatchObject(PAID);
  expect(await readRows(untouched.sessionId)).toMatchObject({ session: 'reserved', sessionVersion: 2 });
});

test('the reversal of a stored payment is stored, also if the same delivery reverses the payment of an invoice', async () => {
  const { sessionId, paid } = await createSessionWithReports();
  await newRepository().upsertPayments([paid]);
  const reversedUTCDate = gateway.clock.nowISO();
  const invoiceReference = randomUUID();
  const source = { kind: 'invoice' as const, invoiceReference, siteReference: 'TILL-1', code: '0'.repeat(20) };
  const reversed = [{ ...paid, source, paymentReference: `${paid.paymentReference.slice(0, 17)}0` }, paid].map(
    (payment) => anEvent(PaymentReversedV1, randomUUID(), 1, { ...payment, reversedUTCDate }),
  );
  await gateway.deliver(...(reversed as EventEnvelope[]));
  // PostgreSQL writes a time into JSON in another format of ISO 8601.
  const stored = { ...toStoredCopy(paid), reversedUTCDate: reversedUTCDate.replace('.000Z', '+00:00') };
  expect((await newRepository().findWithPayments(sessionId))?.payments).toEqual([stored]);
  expect(await gateway.dataSource.query(`SELECT * FROM dead_letters`)).toEqual([]);
});

test('a failed capture is not stored as a reversal, because the page would show a late charge', async () => {
  const { sessionId, paid } = await createSessionWithReports();
  await newRepository().upsertPayments([paid]);
  const failed = { ...paid, reversedUTCDate: gateway.clock.nowISO(), captureFailed: true };
  await gateway.deliver(anEvent(PaymentReversedV1, randomUUID(), 1, failed));
  expect((await newRepository().findWithPayments(sessionId))?.payments).toEqual([toStoredCopy(paid)]);
});

test('findVersions returns the versions of only the requested sessions', async () => {
  const { sessionId } = await createSessionWithReports();
  await createSessionWithReports();
  expect(await newRepository().findVersions([sessionId])).toEqual(new Map([[sessionId, 1]]));
});
