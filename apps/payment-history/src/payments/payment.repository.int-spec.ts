import { randomUUID } from 'node:crypto';
import { aPayment, updatesOf } from '@svc/testing';
import { type History, startHistory } from '../../test/history.js';
import { PaymentRepository } from './payment.repository.js';

let history: History;
let repository: PaymentRepository;
beforeAll(async () => {
  history = await startHistory();
  repository = history.service.app.get(PaymentRepository);
});
afterAll(() => history.stop());

test('the newest version of a payment is stored, and a repeated version changes nothing', async () => {
  const payment = aPayment(randomUUID(), 'customer');
  const version = (number: number, merchantName = `as of ${number}`) => ({
    payment: { ...payment, merchantName },
    version: number,
  });
  const readVersions = () =>
    history.dataSource.query<unknown[]>(`SELECT version, merchant_name FROM payments WHERE payment_reference = $1`, [
      payment.paymentReference,
    ]);
  await repository.upsertAll([version(2), version(4), version(3)]);
  expect(await readVersions()).toEqual([{ version: 4, merchant_name: 'as of 4' }]);
  await repository.upsertAll([version(4, 'another text')]);
  expect(await readVersions()).toEqual([{ version: 4, merchant_name: 'as of 4' }]);
});

test('the next version of a payment is stored without an update of an index (HOT update)', async () => {
  const organisationId = randomUUID();
  // The payments are sorted as they will be inserted. Therefore every third row on each page of the table is updated.
  const payments = Array.from({ length: 120 }, () => aPayment(organisationId, 'customer')).sort((one, other) =>
    one.paymentReference < other.paymentReference ? -1 : 1,
  );
  await repository.upsertAll(payments.map((payment) => ({ payment, version: 1 })));
  const nextVersions = payments.filter((_, nth) => nth % 3 === 0).map((payment) => ({ payment, version: 2 }));
  const updates = await updatesOf(history.dataSource, 'payments', () => repository.upsertAll(nextVersions));
  expect(updates).toEqual({ all: 40, hot: 40 });
});

test('each generation is written in the order of payment references, so that two replicas do not deadlock', async () => {
  await history.dataSource.query(`INSERT INTO generations (generation, state, begun_at) VALUES (2, 'building', now())`);
  const organisationId = randomUUID();
  const payments = Array.from({ length: 100 }, () => aPayment(organisationId, 'customer'));
  await repository.upsertAll(payments.map((payment) => ({ payment, version: 1 })));
  // The order of ctid, the position of a row in the table, is the order of insertion.
  const written = await history.dataSource.query<{ generation: number; payment_reference: string }[]>(
    `SELECT generation, payment_reference FROM payments WHERE organisation_id = $1 ORDER BY ctid`,
    [organisationId],
  );
  const references = payments.map(({ paymentReference }) => paymentReference).toSorted();
  expect(written).toEqual(
    [1, 2].flatMap((generation) => references.map((payment_reference) => ({ generation, payment_reference }))),
  );
});
