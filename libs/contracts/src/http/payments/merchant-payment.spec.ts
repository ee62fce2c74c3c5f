import type { PayableSource, PaymentSnapshot } from '../../events/payments.js';
import { buildMerchantPayment } from './merchant-payment.js';

const SESSION: PayableSource = {
  kind: 'session',
  sessionId: 'session-1',
  apiVersion: 'v3.1',
  merchantOrderId: 'order-1',
  notificationUrl: 'https://shop.example/hook',
  code: '0',
};

const createPayment = (changes: Partial<PaymentSnapshot> = {}): PaymentSnapshot => ({
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
  payable: { payableId: 'session-1', state: 'paid', version: 3, paymentCount: 1 },
  merchantName: 'Karoo Books',
  siteReference: 'ONLINE',
  ...changes,
});

test('the notification of a payment has every field of the model, and no card data (M1)', () => {
  expect(buildMerchantPayment(createPayment())).toStrictEqual({
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

test('the notification of a failed payment also contains the tendered amount', () => {
  const failed = buildMerchantPayment(createPayment({ state: 'failed', processedAmount: 0 }));
  expect(failed).toMatchObject({ status: 2, tenderedAmount: 12_500, invoicedAmount: 12_345 });
});

test.each(['processing', 'verificationRequired'] as const)(
  'buildMerchantPayment refuses a payment in the state %s',
  (state) =>
    expect(() => buildMerchantPayment(createPayment({ state }))).toThrow(`A payment that is ${state} is not final.`),
);

test('the tendered amount includes vouchers, and the customer of a partner has the names that the partner sent', () => {
  const notification = buildMerchantPayment(
    createPayment({
      vouchers: [{ merchantLiable: true, amount: 1_000, more: 'x' } as never],
      partner: { organisationId: 'o', customer: { id: 'c', firstName: 'Thandi', lastName: 'Nkosi' } },
    }),
  );
  expect(notification.vouchers).toStrictEqual([{ merchantLiable: true, amount: 1_000 }]);
  expect(notification.tenderedAmount).toBe(12_500);
  expect(notification.customer).toStrictEqual({ firstName: 'Thandi', lastName: 'Nkosi' });
});

const INVOICE: PayableSource = { kind: 'invoice', invoiceReference: 'i-1', siteReference: 'TILL-1', code: '0' };
test.each<[string, Partial<PaymentSnapshot>, [string, string]]>([
  ['a session', { invoiceReference: 'other' }, ['session-1', 'order-1']],
  ['an invoice without the merchant’s reference', { source: INVOICE }, ['i-1', '']],
  ['an invoice', { source: { ...INVOICE, externalReference: 'ext' } }, ['i-1', 'ext']],
])('a payment of %s has the expected invoiceReference and invoiceExternalReference', (_, changes, expected) => {
  const { invoiceReference, invoiceExternalReference } = buildMerchantPayment(createPayment(changes));
  expect([invoiceReference, invoiceExternalReference]).toEqual(expected);
});
