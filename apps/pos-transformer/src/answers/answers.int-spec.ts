/**
 * Response bodies for tills over HTTP. They must contain every field of the specification in its exact case, and no
 * other field.
 */
import { PRODUCT, SITE, TestTransformer } from '../../test/test-transformer.js';

let pos: TestTransformer;
beforeEach(async () => (pos = await TestTransformer.start()));
afterEach(() => pos.stop());

const ENVELOPE_FIELDS = ['Result', 'Message'];
const PAYMENT = {
  tipAmount: 500,
  tenderedAmount: 9_450,
  vouchers: [
    { merchantLiable: true, amount: 1_000 },
    { merchantLiable: false, amount: 2_000 },
  ],
  customer: { firstName: 'Thandi', lastName: 'Nkosi' },
};

it('T1, T2: every call that changes data responds 200 with only Result and Message', async () => {
  const svcId = await createPaidBasket();
  const wrongTotal = { MerchantOrderId: '18', TotalToPay: 1, Products: [PRODUCT] };
  const path = (name: string): string => `/v1/sites/${SITE}/invoice/${name}`;
  const line = { id: 1, itemName: 'a', itemProductCode: '', itemPrice: 1, itemQuantity: 1, totalPrice: 1 };
  const calls: [string, object | undefined, string][] = [
    // The basket has been paid, so a new line causes a warning.
    [path('line'), line, 'WARN'],
    [path('total'), { amount: 1, reference: '99' }, 'STOP'],
    [path('reset'), undefined, 'OK'],
    [path('line'), line, 'OK'],
    [path('line'), { ...line, totalPrice: 2 }, 'WARN'],
    [path('total'), { amount: 0, reference: '99' }, 'WARN'],
    [path('reset'), undefined, 'OK'],
    [path('total'), { amount: -1, reference: '99' }, 'OK'],
    ['/Basket', { ...wrongTotal, TotalToPay: PRODUCT.ActualUnitPrice }, 'OK'],
    ['/Basket', wrongTotal, 'WARN'],
    ['/Basket', { ...wrongTotal, Products: Array.from({ length: 501 }, () => PRODUCT) }, 'STOP'],
    ['/BasketClosed', { MerchantOrderId: '18', OrderStatus: 'Paid' }, 'STOP'],
    ['/BasketClosed', { MerchantOrderId: '18', OrderStatus: 'Complete' }, 'OK'],
    ['/BasketClosed', { MerchantOrderId: '99', OrderStatus: 'Complete' }, 'WARN'],
    ['/SvcRefund', { SvcId: svcId, RefundAmount: 0 }, 'STOP'],
    ['/SvcRefund', { SvcId: svcId, RefundAmount: 1 }, 'OK'],
    ['/SvcRefund', { SvcId: svcId, RefundAmount: 1 }, 'WARN'],
  ];
  for (const [url, body, result] of calls) {
    const reply = await pos.call('POST', url, body);
    expect([url, body, reply.status, reply.body.Result, Object.keys(reply.body as object)]).toEqual([
      url,
      body,
      200,
      result,
      ENVELOPE_FIELDS,
    ]);
    expect(typeof reply.body.Message).toBe('string');
  }
});

it('T1: the response to total contains InvoiceReference, Code and QrSvgUrl, except while offline (T8)', async () => {
  const { status, body } = await pos.sendTotal(100, '17');
  expect([status, Object.keys(body as object)]).toEqual([
    200,
    [...ENVELOPE_FIELDS, 'InvoiceReference', 'Code', 'QrSvgUrl'],
  ]);
  pos.platform.outage = 'unreachable';
  const offline = await pos.sendTotal(100, '18', 'TILL-2');
  expect([offline.status, Object.keys(offline.body as object)]).toEqual([200, ENVELOPE_FIELDS]);
});

it('T6, T7, T9, T13: the invoice payment response has every field of the specification', async () => {
  const svcId = await createPaidBasket();
  const { status, headers, body } = await pos.invoicePayment('0017');
  expect([status, headers['content-type'], headers['cache-control']]).toEqual([
    200,
    'application/json; charset=utf-8',
    'no-store',
  ]);
  expect(body).toStrictEqual({
    Id: 1,
    MerchantSiteId: SITE,
    ReceiptStatus: 'Paid',
    PosReference: '0017',
    PaymentDate: '2026-03-01T10:00:00',
    SvcId: svcId,
    MerchantOrderId: '0017',
    InvoicedAmount: 8_950,
    TipAmount: 500,
    PaidAmount: 6_450,
    TotalGenericVoucherAmount: 2_000,
    TotalMerchantVoucherAmount: 1_000,
    TotalVoucherAmount: 3_000,
    SvcDiscountAmount: 0,
    ServiceChargeAmount: 0,
    DonationAmount: 0,
    TableName: '',
    WaiterName: '',
    CustomerFullName: 'Thandi Nkosi',
    CurrencyIso: 'ZAR',
    SlipData: '',
    PaymentStatus: 'Success',
  });
});

it('T6, T7, T9: the GetPayment response to a success or a failure has every field of the specification', async () => {
  const svcId = await createPaidBasket();
  const success = {
    PaymentId: 1,
    MerchantOrderId: '0017',
    PaymentDate: '2026-03-01T10:00:00',
    SvcId: svcId,
    PaidAmount: 6_450,
    SvcAmount: 2_000,
    MerchantAmount: 8_450,
    CustomerFullName: 'Thandi Nkosi',
    CurrencyIso: 'ZAR',
    StatusId: '2',
  };
  expect((await pos.getPayment('0017')).body).toStrictEqual(success);
  await pos.sendBasket('18', 100);
  const failed = await pos.pay(pos.openInvoice(), { status: 2 });
  expect((await pos.getPayment('18')).body).toStrictEqual({
    ...success,
    PaymentId: 2,
    MerchantOrderId: '18',
    SvcId: failed,
    PaidAmount: 0,
    SvcAmount: 0,
    MerchantAmount: 0,
    StatusId: '5',
  });
});

it('T4: amounts are whole cents, which the transformer passes on unchanged between till and platform', async () => {
  for (const [amount, reference] of [
    [1, '1'],
    [100_000_000_000, '2'],
  ] as const) {
    await pos.sendBasket(reference, amount);
    expect(pos.openInvoice().body).toMatchObject({ amount, lineItems: [{ unitPrice: String(amount) }] });
    const svcId = await pos.pay();
    expect((await pos.invoicePayment(reference)).body).toMatchObject({ InvoicedAmount: amount, PaidAmount: amount });
    await pos.requestRefund(svcId, amount);
    expect(pos.platform.refunds.at(-1)).toMatchObject({ body: { amount } });
  }
  const path = `/v1/sites/${SITE}/invoice/total`;
  for (const amount of [0.5, 100_000_000_001, '1'])
    expect((await pos.call('POST', path, { amount, reference: '3' })).status).toBe(400);
});

it('T12: reset after the payment is OK, and the next total belongs to a new basket', async () => {
  await createPaidBasket();
  expect((await pos.resetBasket()).body).toEqual({ Result: 'OK', Message: '' });
  expect((await pos.sendTotal(100, '18')).body.Result).toBe('OK');
});

/** Creates a basket and pays it with a tip and with vouchers of both kinds. Returns the SvcId of the payment. */
async function createPaidBasket(): Promise<string> {
  await pos.sendLine();
  await pos.sendTotal(8_950, '0017');
  return pos.pay(pos.openInvoice(), PAYMENT);
}
