import type { LineItem, PaymentSnapshot, PublicKeyJwk } from '@svc/contracts';
import { MAX_SESSION_ATTEMPTS } from '../../sessions/max-session-attempts.js';
import { type TillInvoice, tillLineOf } from '../../till-codes/till-invoice.js';
import { decidePage, type PageFacts } from './decide-page.js';

const NOW = new Date('2026-03-01T10:00:00.000Z');
const after = (milliseconds: number): string => new Date(NOW.getTime() + milliseconds).toISOString();
const MINE = 'mine';

const INVOICE: TillInvoice = {
  invoiceReference: 'i',
  code: '01234567890123456789',
  mode: 'live',
  merchantId: 1001,
  siteId: 5001,
  merchantName: 'Karoo Books',
  siteReference: 'TILL-1',
  externalReference: 'basket-17',
  amount: 8_950,
  currencyISOCode: 'ZAR',
  lineItems: [],
  expiresAt: new Date(NOW.getTime() + 1),
  triesMax: 100,
  payableState: 'open',
  payableVersion: 3,
  tries: 0,
  features: {},
  minimumAmount: 100,
  payments: [],
};

function pageOf(
  invoice: Partial<TillInvoice>,
  facts: Partial<PageFacts> = {},
): { readonly state: string; readonly [field: string]: unknown } {
  return decidePage({
    session: { ...INVOICE, ...invoice },
    address: { code: INVOICE.code },
    codesUrl: 'https://codes.example',
    encryptionKey: {} as PublicKeyJwk,
    wantsAnotherCard: false,
    ownReferences: [MINE],
    isInFlight: false,
    now: NOW,
    ...facts,
  }) as unknown as { state: string };
}
const payment = (over: Partial<PaymentSnapshot> = {}): PaymentSnapshot =>
  ({
    ...{ reference: MINE, paymentReference: 'p', state: 'success', amount: 8_000, tipAmount: 800 },
    ...{ paymentUTCDate: after(-90_000), modifiedUTCDate: after(0), errors: [] },
    ...over,
  }) as PaymentSnapshot;
const PARTNERS = { partner: {} } as Partial<PaymentSnapshot>;

test('the whole page: the order of the till, without a link to a store and without a code', () => {
  expect(pageOf({})).toEqual({
    state: 'open',
    sessionId: 'i',
    callsPath: '/c/01234567890123456789',
    sessionVersion: 3,
    merchantName: 'Karoo Books',
    siteName: 'TILL-1',
    merchantOrderId: 'basket-17',
    isAtTill: true,
    amountCents: 8_950,
    currencyISOCode: 'ZAR',
    customFields: [],
    lines: [],
    reversedCharges: [],
    try: 1,
    triesLeft: MAX_SESSION_ATTEMPTS,
    expiresAt: after(1),
    canExtend: false,
    encryptionKey: {},
    renderedAt: after(0),
    decline: undefined,
    choice: { amountMinCents: undefined, hasTip: false },
  });
  expect(pageOf({ mode: 'test' })['isTest']).toBe(true);
  expect(pageOf({ externalReference: null })).not.toHaveProperty('merchantOrderId');
});

test.each<[LineItem, object]>([
  [
    { name: 'Tea', productCode: 'T', sku: 'S', unitPrice: '4475' },
    { label: 'Tea', quantity: 1, amountCents: 4_475 },
  ],
  [
    { productCode: 'T', sku: 'S', unitPrice: '4475', quantity: 2 },
    { label: 'T', quantity: 2, amountCents: 8_950 },
  ],
  [
    { sku: 'S', unitPrice: '129', quantity: 2.5 },
    { label: 'S', quantity: 2.5, amountCents: 323 },
  ],
  [
    { unitPrice: '129', quantity: -2.5 },
    { label: '', quantity: -2.5, amountCents: -323 },
  ],
  [
    { unitPrice: '0', quantity: -1 },
    { label: '', quantity: -1, amountCents: 0 },
  ],
  [
    { unitPrice: '100000000000', quantity: 1e6 },
    { label: '', quantity: 1e6, amountCents: Number.MAX_SAFE_INTEGER },
  ],
])('the line %j is shown as %j', (line, shown) => {
  expect(pageOf({ lineItems: [tillLineOf(line)] })['lines']).toEqual([shown]);
});

test.each([
  [{}, { amountMinCents: undefined, hasTip: false }],
  [
    { amount: {}, tip: {} },
    { amountMinCents: undefined, hasTip: false },
  ],
  [
    { amount: { editable: false }, tip: { enabled: false } },
    { amountMinCents: undefined, hasTip: false },
  ],
  [{ tip: { enabled: true } }, { amountMinCents: undefined, hasTip: true }],
  [{ amount: { editable: true } }, { amountMinCents: 100, hasTip: false }],
])('of the features %j the payer may choose %j', (features, choice) => {
  expect(pageOf({ features })['choice']).toEqual(choice);
});

test('the whole amount can always be paid, even below the minimum', () => {
  expect(pageOf({ features: { amount: { editable: true } }, minimumAmount: 10_000 })['choice']).toEqual({
    amountMinCents: 8_950,
    hasTip: false,
  });
});

describe('once it is paid', () => {
  const paid = (over?: Partial<PaymentSnapshot>, facts?: Partial<PageFacts>) =>
    pageOf({ payableState: 'paid', payments: [payment(over)] }, facts);

  test('its payer gets a receipt, which becomes already-paid after a minute', () => {
    const receipt = { paymentReference: 'p', charge: { at: after(0) }, amountCents: 8_800 };
    expect(paid()).toMatchObject({ state: 'succeeded', ...receipt });
    expect(paid({ modifiedUTCDate: after(-60_000) })).toMatchObject({ state: 'already-paid' });
    expect(paid()).not.toHaveProperty('returnUrl');
  });

  test.each<[string, Partial<PaymentSnapshot>, Partial<PageFacts>]>([
    ['with another browser', {}, { ownReferences: ['other'] }],
    ['with a browser that keeps nothing', {}, { ownReferences: [] }],
    ['through a partner', PARTNERS, {}],
  ])('all other people see that it is paid, and the amount: %s', (_, over, facts) => {
    const page = paid(over, facts);
    expect(page).toMatchObject({ state: 'already-paid', amountCents: 8_950 });
    expect([page['paymentReference'], page['charge']]).toEqual([undefined, undefined]);
  });

  test('its payer also gets the receipt if the older of two attempts succeeded', () => {
    const payments = [payment({ reference: 'newer', state: 'failed' }), payment()];
    const page = pageOf({ payableState: 'paid', payments }, { ownReferences: ['newer', MINE] });
    expect(page).toMatchObject({ state: 'succeeded', paymentReference: 'p' });
  });
});

describe('the basket', () => {
  const lineItems = [{ name: 'Rooibos', unitPrice: '4475', quantity: 2 }];
  const isShown = (invoice: Partial<TillInvoice>, facts?: Partial<PageFacts>) => {
    const page = pageOf({ lineItems, ...invoice }, facts);
    return [page.state, 'lines' in page];
  };
  const paid = { payableState: 'paid', payments: [payment()] } as const;
  const old = payment({ modifiedUTCDate: after(-60_000) });
  const failed = payment({ state: 'failed' });
  const tries = Array.from({ length: MAX_SESSION_ATTEMPTS }, () => failed);
  const verificationUrl = 'https://bank.example/1';
  const waiting = payment({ state: 'verificationRequired', verificationUrl, verificationUntilUTCDate: after(1) });

  test.each<[string, Partial<TillInvoice>]>([
    ['open', {}],
    ['declined', { tries: 1, payments: [failed] }],
    ['processing', { payableState: 'reserved' }],
    ['verification', { tries: 1, payments: [waiting] }],
    ['succeeded', paid],
    ['already-paid', { ...paid, payments: [old] }],
  ])('is visible while the invoice can be paid, and to its payer: %s', (state, invoice) =>
    expect(isShown(invoice)).toEqual([state, true]),
  );

  test.each<[string, Partial<TillInvoice>, Partial<PageFacts>]>([
    ['already-paid', paid, { ownReferences: [] }],
    ['already-paid', { ...paid, payments: [payment(PARTNERS)] }, {}],
    ['cancelled', { payableState: 'closed' }, {}],
    ['expired', { expiresAt: NOW }, {}],
    ['refused', { tries: 5, payments: tries }, {}],
  ])('is not visible to others, nor after the invoice was closed: %s', (state, invoice, facts) =>
    expect(isShown(invoice, facts)).toEqual([state, false]),
  );
});

describe('after a failed payment', () => {
  const failed = { state: 'failed', errors: [{ errorReference: '11', message: 'x' }] } as Partial<PaymentSnapshot>;

  test('its payer sees the reason; all others see the form with the next attempt', () => {
    const payments = [payment(failed)];
    expect(pageOf({ tries: 1, payments })).toMatchObject({ state: 'declined', try: 2, decline: { message: 'x' } });
    expect(pageOf({ tries: 1, payments }, { ownReferences: ['other'] })).toMatchObject({ state: 'open', try: 2 });
    expect(pageOf({ tries: 1, payments: [payment({ ...failed, ...PARTNERS })] }).state).toBe('open');
    // The attempt count arrives before the payments.
    expect(pageOf({ tries: 1 }).state).toBe('open');
  });

  test.each([
    [MAX_SESSION_ATTEMPTS - 1, 0, 100, 1],
    [1, 60, 100, MAX_SESSION_ATTEMPTS - 1],
    [0, 98, 100, 2],
    [0, 3, 4, 1],
  ])('%d of pages and %d of partners, of %d in all, leave %d tries', (ofPages, ofPartners, triesMax, left) => {
    const payments = [
      ...Array.from({ length: ofPages }, () => payment({ ...failed, reference: 'other' })),
      ...Array.from({ length: ofPartners }, () => payment({ ...failed, ...PARTNERS })),
      payment({ ...PARTNERS, state: 'verificationRequired' }),
    ];
    expect(pageOf({ tries: ofPages + ofPartners, triesMax, payments })['triesLeft']).toBe(left);
  });

  test('the fifth attempt of the page is the last one', () => {
    const payments = Array.from({ length: MAX_SESSION_ATTEMPTS }, () => payment(failed));
    expect(pageOf({ tries: 5, payments }).state).toBe('refused');
  });

  test('shows a reversed charge only to its payer', () => {
    const payments = [payment({ ...failed, reversedUTCDate: after(0) })];
    const told = [MINE, 'other'].map(
      (own) => pageOf({ tries: 1, payments }, { ownReferences: [own] })['reversedCharges'],
    );
    expect(told).toEqual([[expect.objectContaining({ at: after(0) })], []]);
  });
});

test('a payer in verification can continue at the bank; others get no link to it', () => {
  const verificationUrl = 'https://bank.example/1';
  const waiting = payment({ state: 'verificationRequired', verificationUrl, verificationUntilUTCDate: after(1) });
  const invoice = { tries: 1, payments: [waiting] };
  expect(pageOf(invoice)).toMatchObject({ state: 'verification', verificationUrl, anotherCardUrl: '?card=another' });
  expect(pageOf(invoice, { ownReferences: ['other'] }).state).toBe('open');
});

test.each([
  ['closed', 'cancelled'],
  ['refused', 'refused'],
  ['reserved', 'processing'],
  ['paid', 'processing'],
] as const)('an invoice that is %s, with unknown payments, has the page %s', (payableState, state) => {
  expect(pageOf({ payableState }).state).toBe(state);
});

test('an invoice expires to the millisecond', () => {
  expect(pageOf({ expiresAt: NOW }).state).toBe('expired');
});
