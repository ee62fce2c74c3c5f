import type { PayableSource, PaymentSnapshot, PaymentSource } from '../../events/payments.js';
import { paymentNotificationOf } from './merchant-payments.js';

const SESSION: PayableSource = {
  kind: 'session',
  sessionId: 'session-1',
  apiVersion: 'v3.1',
  merchantOrderId: 'order-1',
  notificationUrl: 'https://shop.example/hook',
};

const aPayment = (over: Partial<PaymentSnapshot> = {}): PaymentSnapshot => ({
  reference: 'r',
  paymentReference: 'P',
  mode: 'test',
  merchantId: 1001,
  siteId: 5001,
  state: 'success',
  currencyISOCode: 'ZAR',
  invoicedAmount: 12_345,
  amount: 12_000,
  tipAmount: 500,
  processedAmount: 11_500,
  paymentUTCDate: '2026-03-01T10:00:00.123Z',
  modifiedUTCDate: '2026-03-01T10:00:01.456Z',
  paymentMethodType: 'Card',
  paymentMethodLabel: '**** 4242',
  errors: [],
  source: SESSION,
  payable: { payableId: 'session-1', state: 'paid', version: 3, tries: 1 },
  merchantName: 'Karoo Books',
  siteReference: 'ONLINE',
  ...over,
});

test('a payment has every field of the model, and no card data (M1)', () => {
  expect(paymentNotificationOf(aPayment())).toStrictEqual({
    invoiceReference: 'session-1',
    invoiceExternalReference: 'order-1',
    currencyISOCode: 'ZAR',
    invoicedAmount: 12_345,
    paymentReference: 'P',
    paymentUTCDate: '2026-03-01T10:00:00.123Z',
    tipAmount: 500,
    tenderedAmount: 12_500,
    siteReference: 'ONLINE',
    status: 1,
    vouchers: [],
    customer: { firstName: '', lastName: '' },
    siteId: 5001,
  });
});

test('a failed payment has its tenders too', () => {
  const failed = paymentNotificationOf(aPayment({ state: 'failed', processedAmount: 0 }));
  expect(failed).toMatchObject({ status: 2, tenderedAmount: 12_500, invoicedAmount: 12_345 });
});

test.each(['processing', 'verificationRequired'] as const)('a payment in the state %s has no merchant view', (state) =>
  expect(() => paymentNotificationOf(aPayment({ state }))).toThrow(`A payment that is ${state} is not final.`),
);

test('the amount includes vouchers, and the customer of a partner has its names', () => {
  const notification = paymentNotificationOf(
    aPayment({
      vouchers: [{ merchantLiable: true, amount: 1_000, more: 'x' } as never],
      partner: { organisationId: 'o', customer: { id: 'c', firstName: 'Thandi', lastName: 'Nkosi' } },
    }),
  );
  expect(notification.vouchers).toStrictEqual([{ merchantLiable: true, amount: 1_000 }]);
  expect(notification.tenderedAmount).toBe(12_500);
  expect(notification.customer).toStrictEqual({ firstName: 'Thandi', lastName: 'Nkosi' });
});

const INVOICE: PayableSource = { kind: 'invoice', invoiceReference: 'i-1', siteReference: 'TILL-1', code: '0' };
const CODE: PaymentSource = { kind: 'code', origin: 'x', siteReference: 'TILL-2' };
test.each<[string, Partial<PaymentSnapshot>, [string, string]]>([
  ['a session', { invoiceReference: 'other' }, ['session-1', 'order-1']],
  ['an invoice without the merchant’s reference', { source: INVOICE }, ['i-1', '']],
  ['an invoice', { source: { ...INVOICE, externalReference: 'ext' } }, ['i-1', 'ext']],
  ['a code without an invoice', { source: CODE }, ['', '']],
  ['a code with one', { source: { ...CODE, invoiceReference: 'i-2' } }, ['i-2', '']],
  [
    'a code as the payment says it',
    { source: CODE, invoiceReference: 'i-3', invoiceExternalReference: 'e-3' },
    ['i-3', 'e-3'],
  ],
])('%s: invoiceReference and invoiceExternalReference', (_, over, expected) => {
  const { invoiceReference, invoiceExternalReference } = paymentNotificationOf(aPayment(over));
  expect([invoiceReference, invoiceExternalReference]).toEqual(expected);
});

test.each<[string, Partial<PaymentSnapshot>, string | undefined]>([
  ['the payment says', {}, 'ONLINE'],
  ['the invoice says, where the payment does not', { source: INVOICE, siteReference: undefined as never }, 'TILL-1'],
  ['nothing says in an event of an earlier release', { siteReference: undefined as never }, undefined],
])('the till of a payment is the one that %s', (_, over, expected) =>
  expect(paymentNotificationOf(aPayment(over)).siteReference).toBe(expected),
);
