import type { MerchantPayment } from '@svc/sdk';
import { TestStore } from '../../test/test-store.js';
import { BasketRepository } from '../baskets/basket.repository.js';
import { TotalRepository } from '../baskets/total.repository.js';
import { AlertRepository } from '../platform/alert.repository.js';
import { OutgoingCallRepository } from '../platform/outgoing-call.repository.js';
import { ChangeNotifier } from '../store/change-notifier.js';
import { ApplyPayment } from './apply-payment.js';
import { PaymentRepository } from './payment.repository.js';

const PAYMENT: MerchantPayment = {
  invoiceReference: 'paid-invoice',
  invoiceExternalReference: '17',
  currencyISOCode: 'ZAR',
  invoicedAmount: 100,
  paymentReference: '1VQ5K3P0ABCDEFGHJK',
  paymentUTCDate: '2026-03-01T10:00:00.000Z',
  tipAmount: 0,
  tenderedAmount: 100,
  siteReference: 'STORE-1',
  status: 'Success',
  vouchers: [],
  customer: { firstName: 'Thandi', lastName: 'Nkosi' },
  siteId: 1,
};

let db: TestStore;
let totals: TotalRepository;
let payments: PaymentRepository;
let alerts: AlertRepository;
let applyPayment: ApplyPayment;
beforeEach(() => {
  db = new TestStore();
  totals = new TotalRepository(db.store, db.clock);
  payments = new PaymentRepository(db.store, db.clock);
  alerts = new AlertRepository(db.store, db.clock);
  applyPayment = new ApplyPayment(
    payments,
    new BasketRepository(db.store, db.clock),
    totals,
    new OutgoingCallRepository(db.store),
    alerts,
    new ChangeNotifier(),
  );
});
afterEach(() => db.close());

const insertOrder = (state = 'open'): number => db.insertBasket({ state, reference: '17', external_reference: '17' });
const apply = (payment = PAYMENT): void => db.store.transaction((tx) => applyPayment.apply(tx, 1, payment));
const linkEarlierPayments = (totalId: number): void =>
  db.store.transaction((tx) => applyPayment.linkEarlierPayments(tx, totalId, PAYMENT.invoiceReference));

/** Stores the response with the reference of the invoice. */
const storeInvoice = (totalId: number): void => {
  const invoice = { reference: PAYMENT.invoiceReference, code: 'c', expiresAt: db.clock.nowISO() };
  db.store.transaction((tx) => totals.setInvoice(tx, totalId, { ...invoice, state: 'open' }));
  linkEarlierPayments(totalId);
};

describe('a payment that is reported before the response with the reference of its invoice', () => {
  it.each([
    ['Success', 'paid'],
    ['Failed', 'open'],
  ] as const)('is linked to its basket; with the status %s, the total is then %s', (status, state) => {
    const basketId = insertOrder();
    const totalId = db.insertTotal(basketId, 'open', { invoice_reference: PAYMENT.invoiceReference });
    const payment = { ...PAYMENT, status };
    db.store.transaction((tx) => payments.insertIfAbsent(tx, 1, payment, { basketId: null, totalId: null }));
    linkEarlierPayments(totalId);
    expect(payments.findDecisive(basketId)).toMatchObject({ totalId, payment });
    expect(totals.get(totalId).state).toBe(state);
  });

  it('causes one alert if it is less than the invoice', () => {
    const totalId = db.insertTotal(insertOrder(), 'queued');
    apply({ ...PAYMENT, tenderedAmount: 60 });
    expect(alerts.list(1, '')).toEqual([]);
    storeInvoice(totalId);
    expect(alerts.list(1, '').map((alert) => alert.message)).toEqual([
      'Order 17: R 0.60 was paid instead of R 1.00. Settle the difference at the till.',
    ]);
    expect(totals.get(totalId).state).toBe('paid');
  });
});

it('a payment with the reference, the amount and the site of a basket does not belong to it without its invoice', () => {
  const basketId = insertOrder();
  const request = JSON.stringify({ siteReference: PAYMENT.siteReference });
  const totalId = db.insertTotal(basketId, 'queued', { request });
  db.insertCall({ basket_id: basketId, total_id: totalId, attempts: 5 });
  apply();
  expect(payments.findBySvcId(PAYMENT.paymentReference)).toMatchObject({ basketId: null, totalId: null });
  expect([payments.findDecisive(basketId), totals.get(totalId).state]).toEqual([undefined, 'queued']);
});

describe('a payment of an earlier total, the response of whose call was lost', () => {
  it.each([
    ['open', true],
    ['queued', true],
    ['without-invoice', false],
    ['closed', false],
    ['paid', false],
  ])('closes the invoice of the current total in state %s: %s', (state, isClosed) => {
    const basketId = insertOrder();
    const earlierId = db.insertTotal(basketId, 'queued');
    const totalId = db.insertTotal(basketId, state);
    db.insertCall({ basket_id: basketId, total_id: totalId, attempts: 1 });
    apply();
    storeInvoice(earlierId);
    const calls = db.store.list(`SELECT total_id AS totalId FROM outgoing_calls WHERE kind = 'close-invoice'`);
    expect(calls).toEqual(isClosed ? [{ totalId }] : []);
  });
});

it('a payment of a total that its till has changed since causes an alert', () => {
  const totalId = db.insertTotal(insertOrder(), 'open', { invoice_reference: PAYMENT.invoiceReference, withdrawn: 1 });
  apply();
  expect(alerts.list(1, '').map((alert) => alert.message)).toEqual([
    'Order 17: R 1.00 was paid before its lines were changed. Send total again, and settle the difference.',
  ]);
  expect(totals.get(totalId).state).toBe('paid');
});

it.each([
  ['open', false],
  ['saved', false],
  ['reset', true],
  ['complete', true],
  ['void', true],
])('a payment of a basket in state %s causes an alert: %s', (state, hasAlert) => {
  db.insertTotal(insertOrder(state), 'open', { invoice_reference: PAYMENT.invoiceReference });
  apply();
  const message = 'Order 17: R 1.00 was paid after it was closed. Refund it, or hand out the goods.';
  expect(alerts.list(1, '').map((alert) => alert.message)).toEqual(hasAlert ? [message] : []);
});
