import type { MerchantPayment } from '@svc/sdk';
import {
  calculateAmounts,
  getPaymentResponse,
  invoicePaymentResponse,
  paymentDate,
  selectDecisivePayment,
} from './payment.js';

const payment: MerchantPayment = {
  invoiceReference: 'i-1',
  invoiceExternalReference: '0017',
  currencyISOCode: 'ZAR',
  invoicedAmount: 10_000,
  paymentReference: '1VQ5K3P0ABCDEFGHJK',
  paymentUTCDate: '2026-11-20T18:03:36.987Z',
  tipAmount: 500,
  tenderedAmount: 10_500,
  siteReference: 'STORE-1',
  status: 'Success',
  vouchers: [
    { merchantLiable: true, amount: 1_000 },
    { merchantLiable: false, amount: 2_000 },
    { merchantLiable: false, amount: 30 },
  ],
  customer: { firstName: ' Thandi ', lastName: 'Nkosi' },
  siteId: 5001,
};
const failedPayment: MerchantPayment = { ...payment, status: 'Failed' };
const basket = { siteId: 5001, reference: '0017', isVoided: false };
const localPayment = (merchantPayment: MerchantPayment, paymentId = 42) => ({ paymentId, payment: merchantPayment });

test('T9: the paid amount excludes all vouchers; the merchant also receives the vouchers that the service pays', () => {
  const vouchers = { merchantVouchers: 1_000, genericVouchers: 2_030 };
  expect(calculateAmounts(payment)).toEqual({ paid: 7_470, ...vouchers, merchant: 9_500, service: 2_030 });
  expect(calculateAmounts(failedPayment)).toEqual({ paid: 0, ...vouchers, merchant: 0, service: 0 });
  expect(calculateAmounts({ ...payment, vouchers: [] })).toMatchObject({ paid: 10_500, merchant: 10_500, service: 0 });
});

test('T13: the invoice payment response has every field of the specification', () => {
  expect(invoicePaymentResponse(basket, localPayment(payment))).toStrictEqual({
    Id: 42,
    MerchantSiteId: 5001,
    ReceiptStatus: 'Paid',
    PosReference: '0017',
    PaymentDate: '2026-11-20T18:03:36',
    SvcId: '1VQ5K3P0ABCDEFGHJK',
    MerchantOrderId: '0017',
    InvoicedAmount: 10_000,
    TipAmount: 500,
    PaidAmount: 7_470,
    TotalGenericVoucherAmount: 2_030,
    TotalMerchantVoucherAmount: 1_000,
    TotalVoucherAmount: 3_030,
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

test('T7, T9: the GetPayment response has every field of the specification', () => {
  expect(getPaymentResponse(basket, localPayment(payment))).toStrictEqual({
    PaymentId: 42,
    MerchantOrderId: '0017',
    PaymentDate: '2026-11-20T18:03:36',
    SvcId: '1VQ5K3P0ABCDEFGHJK',
    PaidAmount: 7_470,
    SvcAmount: 2_030,
    MerchantAmount: 9_500,
    CustomerFullName: 'Thandi Nkosi',
    CurrencyIso: 'ZAR',
    StatusId: '2',
  });
  expect(getPaymentResponse(basket, localPayment(failedPayment))).toMatchObject({
    StatusId: '5',
    PaidAmount: 0,
    MerchantAmount: 0,
  });
});

test.each([
  { status: 'Success', isVoided: false, ReceiptStatus: 'Paid' },
  { status: 'Failed', isVoided: false, ReceiptStatus: 'Open' },
  { status: 'Success', isVoided: true, ReceiptStatus: 'Voided' },
  { status: 'Failed', isVoided: true, ReceiptStatus: 'Voided' },
] as const)(
  'T7: a payment with status $status of a basket with isVoided=$isVoided has the receipt status $ReceiptStatus',
  ({ status, isVoided, ReceiptStatus }) => {
    const response = invoicePaymentResponse({ ...basket, isVoided }, localPayment({ ...payment, status }));
    expect(response).toMatchObject({ ReceiptStatus, PaymentStatus: status });
  },
);

test('T7: a success counts before earlier and later failures; otherwise the newest payment counts', () => {
  const [first, second, third] = [
    localPayment(failedPayment, 1),
    localPayment(payment, 2),
    localPayment(failedPayment, 3),
  ];
  expect(selectDecisivePayment([first, second, third])).toBe(second);
  for (const failures of [
    [first, third],
    [third, first],
  ])
    expect(selectDecisivePayment(failures)).toBe(third);
  expect(selectDecisivePayment([])).toBeUndefined();
});

test('T13: blanks and missing names leave no additional blanks in CustomerFullName', () => {
  const anonymous = { ...payment, customer: { firstName: '', lastName: '' } };
  expect(getPaymentResponse(basket, localPayment(anonymous)).CustomerFullName).toBe('');
  const single = { ...payment, customer: { firstName: '', lastName: 'Nkosi' } };
  expect(getPaymentResponse(basket, localPayment(single)).CustomerFullName).toBe('Nkosi');
  const padded = { ...payment, customer: { firstName: ' Thandi ', lastName: ' Nkosi ' } };
  expect(getPaymentResponse(basket, localPayment(padded)).CustomerFullName).toBe('Thandi Nkosi');
});

test('T6: paymentDate has no milliseconds and no time zone', () => {
  expect(paymentDate('2026-01-02T03:04:05.999Z')).toBe('2026-01-02T03:04:05');
});
