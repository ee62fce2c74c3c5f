import { TestStore } from '../../test/test-store.js';
import { AlertRepository } from '../platform/alert.repository.js';
import { PaymentRepository } from './payment.repository.js';

let db: TestStore;
beforeEach(() => (db = new TestStore()));
afterEach(() => db.close());

it('PaymentRepository stores one stream position for each site', () => {
  const payments = new PaymentRepository(db.store, db.clock);
  const position = (siteId: number): string | undefined => payments.findPosition(siteId);
  db.store.transaction((tx) => {
    payments.savePosition(tx, 1, 'a');
    payments.savePosition(tx, 2, 'b');
  });
  expect([position(1), position(2), position(3)]).toEqual(['a', 'b', undefined]);
  db.store.transaction((tx) => payments.deletePosition(tx, 1));
  expect([position(1), position(2)]).toEqual([undefined, 'b']);
});

it('the alerts of a till are listed with the alerts of its site that belong to no till', () => {
  const alerts = new AlertRepository(db.store, db.clock);
  db.store.transaction((tx) => {
    alerts.append(tx, 1, 'T', 'own');
    alerts.append(tx, 1, '', 'of a refund');
    alerts.append(tx, 1, 'U', 'of another till');
    alerts.append(tx, 2, 'T', 'of another site');
  });
  expect(alerts.list(1, 'T').map(({ message }) => message)).toEqual(['of a refund', 'own']);
});
