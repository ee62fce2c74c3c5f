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
  payment_id: 'id',
  payable_id: payableId,
  reference: 'r',
  payment_reference: 'p',
  state: 'processing',
  amount: 1,
  tip_amount: 2,
  voucher_amount: 0,
  processed_amount: 3,
  method_type: 'Card',
  method_label: '**** 4242',
  partner: null,
  merchant_name: 'm',
  site_reference: 's',
  errors: [{ errorReference: '10', message: 'Declined.' }],
  fee_basis_points: 290,
  fee_fixed_amount: 150,
  accepted_at: new Date('2026-03-01T10:00:00Z'),
  modified_at: new Date('2026-03-01T10:00:01Z'),
  version: 1,
  mode: 'live',
  merchant_id: 1001,
  site_id: 5001,
  payable_amount: 4,
  currency: 'ZAR',
  source,
  payable_state: 'reserved',
  payable_version: 5,
  tries: 6,
  tries_max: 7,
  verification_url: null,
  verification_until: null,
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
  payable: { payableId, state: 'reserved', version: 5, tries: 6 },
  merchantName: 'm',
  siteReference: 's',
};

test('a row is converted to the payment that it stores', () => {
  expect(snapshotFromRow(ROW)).toStrictEqual(SNAPSHOT);
});

test('PAYMENT_COLUMNS selects exactly the columns of a row', () => {
  const names = PAYMENT_COLUMNS.split(',').map((column) => /\w+$/.exec(column)?.[0]);
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
  const { fee_basis_points: _, fee_fixed_amount: __, ...ofPayable } = ROW;
  expect(ofPayable).toMatchObject(rowFromPayment('id', SNAPSHOT));
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
  const row = rowFromPayment('id', partnerPayment);
  expect(row).toMatchObject({ reference: 'id', voucher_amount: 23 });
  expect(snapshotFromRow({ ...ROW, ...row })).toStrictEqual(partnerPayment);
});

test('the snapshot contains a verification only if the row has both its URL and its expiry', () => {
  const verification_until = new Date('2026-03-01T10:15:00Z');
  expect(snapshotFromRow({ ...ROW, verification_url: 'https://bank.example/', verification_until })).toStrictEqual({
    ...SNAPSHOT,
    verificationUrl: 'https://bank.example/',
    verificationUntilUTCDate: '2026-03-01T10:15:00.000Z',
  });
  expect(snapshotFromRow({ ...ROW, verification_until })).toStrictEqual(SNAPSHOT);
  expect(snapshotFromRow({ ...ROW, verification_url: 'https://bank.example/' })).toStrictEqual(SNAPSHOT);
});
