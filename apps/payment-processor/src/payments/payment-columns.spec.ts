import type { PaymentSnapshot } from '@svc/contracts';
import { buildPayable } from '../../test/builders.js';
import {
  feeTermsFromRow,
  PAYMENT_COLUMNS,
  type PaymentRow,
  rowFromPayment,
  snapshotFromRow,
} from './payment-columns.js';

const { source, payableId } = buildPayable();
const ROW: PaymentRow = {
  paymentId: 'id',
  payableId,
  reference: 'r',
  paymentReference: 'p',
  state: 'processing',
  amount: 1,
  tipAmount: 2,
  voucherAmount: 0,
  processedAmount: 3,
  paymentMethodType: 'Card',
  paymentMethodLabel: '**** 4242',
  partner: null,
  merchantName: 'm',
  siteReference: 's',
  errors: [{ errorReference: '10', message: 'Declined.' }],
  feeBasisPoints: 290,
  feeFixedAmount: 150,
  acceptedAt: new Date('2026-03-01T10:00:00Z'),
  modifiedAt: new Date('2026-03-01T10:00:01Z'),
  version: 1,
  mode: 'live',
  merchantId: 1001,
  siteId: 5001,
  invoicedAmount: 4,
  currencyISOCode: 'ZAR',
  source,
  payableState: 'reserved',
  payableVersion: 5,
  paymentCount: 6,
  maxPayments: 7,
  verificationUrl: null,
  verificationUntil: null,
};
const SNAPSHOT: PaymentSnapshot = {
  reference: 'r',
  paymentReference: 'p',
  mode: 'live',
  merchantId: 1001,
  siteId: 5001,
  state: 'processing',
  currencyISOCode: 'ZAR',
  invoicedAmount: 4,
  amount: 1,
  tipAmount: 2,
  processedAmount: 3,
  paymentUTCDate: '2026-03-01T10:00:00.000Z',
  modifiedUTCDate: '2026-03-01T10:00:01.000Z',
  paymentMethodType: 'Card',
  paymentMethodLabel: '**** 4242',
  errors: [{ errorReference: '10', message: 'Declined.' }],
  source,
  payable: { payableId, state: 'reserved', version: 5, paymentCount: 6 },
  merchantName: 'm',
  siteReference: 's',
};

const withoutFeeTerms = ({ feeBasisPoints: _, feeFixedAmount: __, ...row }: Record<string, unknown>) => row;

test('a row is converted to the payment that it stores', () => {
  expect(snapshotFromRow(ROW)).toStrictEqual(SNAPSHOT);
});

test('PAYMENT_COLUMNS selects exactly the columns of a row', () => {
  const names = PAYMENT_COLUMNS.split(',').map((column) => /(\w+)"?$/.exec(column)?.[1]);
  expect(names.toSorted()).toEqual(Object.keys(ROW).toSorted());
});

test('the fee terms of a payment are those that its row stores', () => {
  expect(feeTermsFromRow(ROW)).toEqual({ basisPoints: 290, fixedAmount: 150 });
});

test("the snapshot of a partner's payment contains the stored fields of the partner, with the reference as the partner sent it (C4)", () => {
  const customer = { id: 'c', firstName: 'f', lastName: 'l' };
  const partner = { reference: 'R', orderReference: 'o', partner: { organisationId: 'org', customer } };
  expect(snapshotFromRow({ ...ROW, partner })).toStrictEqual({ ...SNAPSHOT, ...partner });
});

test('an accepted payment is converted to the row that is converted back to it', () => {
  expect(ROW).toMatchObject(withoutFeeTerms(rowFromPayment('id', SNAPSHOT)));
  const customer = { id: 'c', firstName: 'f', lastName: 'l' };
  const partnerPayment = {
    ...SNAPSHOT,
    reference: 'R',
    orderReference: 'o',
    externalPaymentReference: 'x',
    invoiceReference: 'i',
    invoiceExternalReference: 'e',
    partner: { organisationId: 'org', customer },
    vouchers: [
      { merchantLiable: true, amount: 20 },
      { merchantLiable: false, amount: 3 },
    ],
  };
  const row = withoutFeeTerms(rowFromPayment('id', partnerPayment));
  expect(row).toMatchObject({ reference: 'id', voucherAmount: 23 });
  expect(snapshotFromRow({ ...ROW, ...row })).toStrictEqual(partnerPayment);
});

test('the snapshot contains a verification only if the row has both its URL and its expiry', () => {
  const verificationUntil = new Date('2026-03-01T10:15:00Z');
  expect(snapshotFromRow({ ...ROW, verificationUrl: 'https://bank.example/', verificationUntil })).toStrictEqual({
    ...SNAPSHOT,
    verificationUrl: 'https://bank.example/',
    verificationUntilUTCDate: '2026-03-01T10:15:00.000Z',
  });
  expect(snapshotFromRow({ ...ROW, verificationUntil })).toStrictEqual(SNAPSHOT);
  expect(snapshotFromRow({ ...ROW, verificationUrl: 'https://bank.example/' })).toStrictEqual(SNAPSHOT);
});
