import { randomUUID } from 'node:crypto';
import { aPayment, updatesOf } from '@svc/testing';
import { type History, startHistory } from '../../test/history.js';
import { PaymentRepository } from '../payments/payment.repository.js';

let history: History;
beforeAll(async () => {
  history = await startHistory();
});
afterAll(() => history.stop());

test('the next version of a payment is stored without an update of an index (HOT update)', async () => {
  const repository = history.service.app.get(PaymentRepository);
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
