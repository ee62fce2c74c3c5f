import type { LineItem, PaymentSnapshot, PublicKeyJwk } from '@svc/contracts';
import { type TillInvoice, toTillLineItem } from '../../till-codes/till-invoice.js';
import { decidePage, type PageFacts } from './decide-page.js';

const NOW = new Date('2026-03-01T10:00:00.000Z');
const timeAfterNow = (milliseconds: number): string => new Date(NOW.getTime() + milliseconds).toISOString();
const OWN_REFERENCE = 'mine';

const INVOICE: TillInvoice = {
  invoiceReference: 'i',
  code: '01234567890123456789',
  mode: 'live',
  merchantId: 1001,
  siteId: 5001,
  merchantName: 'Karoo Books',
  siteName: 'Market stall',
  siteReference: 'TILL-1',
  externalReference: 'basket-17',
  amount: 8_950,
  currencyISOCode: 'ZAR',
  lineItems: [],
  expiresAt: new Date(NOW.getTime() + 1),
  maxPayments: 100,
  isPaymentRequest: false,
  payableState: 'open',
  payableVersion: 3,
  paymentCount: 0,
  features: {},
  minimumAmount: 100,
  maximumAmount: null,
  payments: [],
  timeZones: [{ zone: 'Africa/Johannesburg' }],
};

function decideInvoicePage(
  invoice: Partial<TillInvoice>,
  facts: Partial<PageFacts> = {},
): { readonly state: string; readonly [field: string]: unknown } {
  return decidePage({
    payable: { ...INVOICE, ...invoice },
    address: { code: INVOICE.code },
    codesUrl: 'https://codes.example',
    encryptionKey: {} as PublicKeyJwk,
    wantsAnotherCard: false,
    ownReferences: [OWN_REFERENCE],
    isInFlight: false,
    now: NOW,
    ...facts,
  }) as unknown as { state: string };
}
const buildPayment = (overrides: Partial<PaymentSnapshot> = {}): PaymentSnapshot =>
  ({
    ...{ reference: OWN_REFERENCE, paymentReference: 'p', state: 'success', amount: 8_000, tipAmount: 800 },
    ...{ paymentUTCDate: timeAfterNow(-90_000), modifiedUTCDate: timeAfterNow(0), errors: [] },
    ...overrides,
  }) as PaymentSnapshot;
const BY_PARTNER = { partner: {} } as Partial<PaymentSnapshot>;

test('the model of an open page has the order of the till, without a link to a store and without a code', () => {
  expect(decideInvoicePage({})).toEqual({
    state: 'open',
    timeZone: 'Africa/Johannesburg',
    sessionId: 'i',
    callsPath: '/c/01234567890123456789',
    sessionVersion: 3,
    merchantName: 'Karoo Books',
    siteName: 'Market stall',
    merchantOrderId: 'basket-17',
    invoiceOrigin: 'till',
    amountCents: 8_950,
    currencyISOCode: 'ZAR',
    customFields: [],
    reversedCharges: [],
    paymentNumber: 1,
    paymentsLeft: undefined,
    expiresAt: timeAfterNow(1),
    canExtend: false,
    encryptionKey: {},
    renderedAt: timeAfterNow(0),
    decline: undefined,
    choice: { amountCents: undefined, tipMaxCents: undefined },
  });
  expect(decideInvoicePage({ mode: 'test' })['isTest']).toBe(true);
  expect(decideInvoicePage({ externalReference: null })).not.toHaveProperty('merchantOrderId');
  expect(decideInvoicePage({ isPaymentRequest: true })).toMatchObject({ invoiceOrigin: 'request' });
});

test.each<[lineItem: LineItem, line: object]>([
  [
    { name: 'Tea', productCode: 'T', sku: 'S', unitPrice: '4475' },
    { label: 'Tea', quantity: 1, unitPriceCents: 4_475, amountCents: 4_475 },
  ],
  [
    { productCode: 'T', sku: 'S', unitPrice: '4475', quantity: 2 },
    { label: 'T', quantity: 2, unitPriceCents: 4_475, amountCents: 8_950 },
  ],
  [
    { sku: 'S', unitPrice: '129', quantity: 2.5 },
    { label: 'S', quantity: 2.5, unitPriceCents: 129, amountCents: 323 },
  ],
  [
    { unitPrice: '129', quantity: -2.5 },
    { label: '', quantity: -2.5, unitPriceCents: 129, amountCents: -323 },
  ],
  [
    { unitPrice: '0', quantity: -1 },
    { label: '', quantity: -1, unitPriceCents: 0, amountCents: 0 },
  ],
  [
    { unitPrice: '100000000000', quantity: 1e6 },
    { label: '', quantity: 1e6, unitPriceCents: 100_000_000_000, amountCents: Number.MAX_SAFE_INTEGER },
  ],
])('the line item %j is shown as %j', (lineItem, line) => {
  expect(decideInvoicePage({ lineItems: [toTillLineItem(lineItem)] })['basket']).toEqual({
    lines: [line],
    totalCents: 8_950,
  });
});

test.each([
  [{}, { amountCents: undefined, tipMaxCents: undefined }],
  [
    { amount: {}, tip: {} },
    { amountCents: undefined, tipMaxCents: undefined },
  ],
  [
    { amount: { editable: false }, tip: { enabled: false } },
    { amountCents: undefined, tipMaxCents: undefined },
  ],
  [{ tip: { enabled: true } }, { amountCents: undefined, tipMaxCents: 8_950 }],
  [{ amount: { editable: true } }, { amountCents: { min: 100, max: 89_500 }, tipMaxCents: undefined }],
])('with the features %j of the merchant, the payer has the choice %j', (features, choice) => {
  expect(decideInvoicePage({ features })['choice']).toEqual(choice);
});

test('a payer can always choose the whole amount, even if it is below the minimum or above the maximum', () => {
  const features = { amount: { editable: true } };
  expect(decideInvoicePage({ features, minimumAmount: 10_000, maximumAmount: 20_000 })['choice']).toEqual({
    amountCents: { min: 8_950, max: 20_000 },
    tipMaxCents: undefined,
  });
  expect(decideInvoicePage({ features, maximumAmount: 200 })['choice']).toMatchObject({
    amountCents: { min: 100, max: 8_950 },
  });
});

describe('the page of a paid invoice', () => {
  const decidePaidPage = (overrides?: Partial<PaymentSnapshot>, facts?: Partial<PageFacts>) =>
    decideInvoicePage({ payableState: 'paid', payments: [buildPayment(overrides)] }, facts);

  test('is a receipt for its payer, and already-paid after a minute', () => {
    const receipt = { paymentReference: 'p', charge: { at: timeAfterNow(0) }, amountCents: 8_800 };
    expect(decidePaidPage()).toMatchObject({ state: 'succeeded', ...receipt });
    expect(decidePaidPage({ modifiedUTCDate: timeAfterNow(-60_000) })).toMatchObject({ state: 'already-paid' });
    expect(decidePaidPage()).not.toHaveProperty('returnUrl');
  });

  test.each<[string, Partial<PaymentSnapshot>, Partial<PageFacts>]>([
    ['with a cookie of another payment', {}, { ownReferences: ['other'] }],
    ['without a cookie', {}, { ownReferences: [] }],
    ['that has the reference of a payment through a partner', BY_PARTNER, {}],
  ])('shows to a browser %s only the amount, and that the invoice is paid', (_, overrides, facts) => {
    const page = decidePaidPage(overrides, facts);
    expect(page).toMatchObject({ state: 'already-paid', amountCents: 8_950 });
    expect([page['paymentReference'], page['charge']]).toEqual([undefined, undefined]);
  });

  test('is a receipt also if the older of two payments of the payer succeeded', () => {
    const payments = [buildPayment({ reference: 'newer', state: 'failed' }), buildPayment()];
    const page = decideInvoicePage({ payableState: 'paid', payments }, { ownReferences: ['newer', OWN_REFERENCE] });
    expect(page).toMatchObject({ state: 'succeeded', paymentReference: 'p' });
  });
});

describe('the basket', () => {
  const lineItems = [{ name: 'Rooibos', unitPrice: '4475', quantity: 2 }];
  const stateAndBasketVisibility = (invoice: Partial<TillInvoice>, facts?: Partial<PageFacts>) => {
    const page = decideInvoicePage({ lineItems, ...invoice }, facts);
    return [page.state, 'basket' in page];
  };
  const paid = { payableState: 'paid', payments: [buildPayment()] } as const;
  const oldPayment = buildPayment({ modifiedUTCDate: timeAfterNow(-60_000) });
  const failed = buildPayment({ state: 'failed' });
  const verificationUrl = 'https://bank.example/1';
  const inVerification = buildPayment({
    state: 'verificationRequired',
    verificationUrl,
    verificationUntilUTCDate: timeAfterNow(1),
  });

  test.each<[string, Partial<TillInvoice>]>([
    ['open', {}],
    ['declined', { paymentCount: 1, payments: [failed] }],
    ['processing', { payableState: 'reserved' }],
    ['verification', { paymentCount: 1, payments: [inVerification] }],
    ['succeeded', paid],
    ['already-paid', { ...paid, payments: [oldPayment] }],
  ])('is visible to the payer of the invoice on the page %s', (state, invoice) =>
    expect(stateAndBasketVisibility(invoice)).toEqual([state, true]),
  );

  test.each<[string, Partial<TillInvoice>, Partial<PageFacts>]>([
    ['already-paid', paid, { ownReferences: [] }],
    ['already-paid', { ...paid, payments: [buildPayment(BY_PARTNER)] }, {}],
    ['cancelled', { payableState: 'closed' }, {}],
    ['expired', { expiresAt: NOW }, {}],
    ['refused', { paymentCount: 80, payments: [failed] }, {}],
  ])('is hidden from other people, and after the invoice was closed, on the page %s', (state, invoice, facts) =>
    expect(stateAndBasketVisibility(invoice, facts)).toEqual([state, false]),
  );
});

describe('the page after a failed payment', () => {
  const failed = { state: 'failed', errors: [{ errorReference: '11', message: 'x' }] } as Partial<PaymentSnapshot>;

  test('shows the reason to the payer of that payment, and the form with the next payment to all other people', () => {
    const payments = [buildPayment(failed)];
    expect(decideInvoicePage({ paymentCount: 1, payments })).toMatchObject({
      state: 'declined',
      paymentNumber: 2,
      decline: { message: 'x' },
    });
    expect(decideInvoicePage({ paymentCount: 1, payments }, { ownReferences: ['other'] })).toMatchObject({
      state: 'open',
      paymentNumber: 2,
    });
    expect(decideInvoicePage({ paymentCount: 1, payments: [buildPayment({ ...failed, ...BY_PARTNER })] }).state).toBe(
      'open',
    );
    // The invoice counts the new payment, but the payment has not arrived yet.
    expect(decideInvoicePage({ paymentCount: 1 }).state).toBe('open');
  });

  test('shows a reversed charge only to the payer of that charge', () => {
    const payments = [buildPayment({ ...failed, reversedUTCDate: timeAfterNow(0) })];
    const reversedCharges = [OWN_REFERENCE, 'other'].map(
      (own) => decideInvoicePage({ paymentCount: 1, payments }, { ownReferences: [own] })['reversedCharges'],
    );
    expect(reversedCharges).toEqual([[expect.objectContaining({ at: timeAfterNow(0) })], []]);
  });
});

test('a payment that waits for verification shows the link to the bank only to its payer', () => {
  const verificationUrl = 'https://bank.example/1';
  const inVerification = buildPayment({
    state: 'verificationRequired',
    verificationUrl,
    verificationUntilUTCDate: timeAfterNow(1),
  });
  const invoice = { paymentCount: 1, payments: [inVerification] };
  expect(decideInvoicePage(invoice)).toMatchObject({
    state: 'verification',
    verificationUrl,
    anotherCardUrl: '?card=another',
  });
  expect(decideInvoicePage(invoice, { ownReferences: ['other'] }).state).toBe('open');
});

test.each([
  ['closed', 'cancelled'],
  ['refused', 'refused'],
  ['reserved', 'processing'],
  ['paid', 'processing'],
] as const)(
  'an invoice whose payable is %s, and whose payments have not arrived, has the page %s',
  (payableState, state) => {
    expect(decideInvoicePage({ payableState }).state).toBe(state);
  },
);

test('an invoice is expired from the exact millisecond of its expiry', () => {
  expect(decideInvoicePage({ expiresAt: NOW }).state).toBe('expired');
});

describe('the page of a static code', () => {
  const address = { code: '98765432109876543210', invoiceReference: 'i' };
  const ORDER_FIELDS = ['basket', 'siteName', 'merchantOrderId'];
  const lineItems = [{ name: 'Rooibos', unitPrice: '4475', quantity: 2 }];
  const failures = Array.from({ length: 20 }, () => buildPayment({ state: 'failed', reference: 'other' }));
  const verification = { verificationUrl: 'https://bank.example/1', verificationUntilUTCDate: timeAfterNow(1) };

  test.each<[string, Partial<TillInvoice>]>([
    ['open', {}],
    ['declined', { paymentCount: 1, payments: [buildPayment({ state: 'failed' })] }],
    ['processing', { payableState: 'reserved' }],
    ['verification', { paymentCount: 1, payments: [buildPayment({ state: 'verificationRequired', ...verification })] }],
    ['succeeded', { payableState: 'paid', payments: [buildPayment()] }],
    ['already-paid', { payableState: 'paid', payments: [buildPayment({ reference: 'other' })] }],
    ['cancelled', { payableState: 'closed' }],
    ['expired', { expiresAt: NOW, paymentCount: 20, payments: failures }],
    ['refused', { paymentCount: 60 }],
    ['paused', { paymentCount: 20, payments: failures }],
  ])('shows in state %s the shop and the amount, but nothing else of the order', (state, invoice) => {
    const page = decideInvoicePage({ lineItems, ...invoice }, { address });
    expect(page).toMatchObject({ state, merchantName: 'Karoo Books', currencyISOCode: 'ZAR' });
    expect(page['amountCents']).toBe(state === 'succeeded' ? 8_800 : 8_950);
    for (const field of ORDER_FIELDS) expect(page).not.toHaveProperty(field);
    expect(JSON.stringify(page)).not.toContain(INVOICE.code);
  });

  test('lets the payer of a verification continue at the bank while the code is paused, without another card', () => {
    const waiting = buildPayment({ state: 'verificationRequired', ...verification });
    const page = decideInvoicePage({ paymentCount: 21, payments: [waiting, ...failures] }, { address });
    expect(page.state).toBe('verification');
    expect(page).not.toHaveProperty('anotherCardUrl');
  });
});
