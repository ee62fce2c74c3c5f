import type { HostedPaymentSnapshot, PublicKeyJwk } from '@svc/contracts';
import { MAX_SESSION_PAYMENTS } from '../../sessions/max-session-payments.js';
import { decidePage, type PageFacts } from './decide-page.js';

const NOW = new Date('2026-03-01T10:00:00.000Z');
const timeAfterNow = (milliseconds: number): string => new Date(NOW.getTime() + milliseconds).toISOString();

type Facts = Partial<Omit<PageFacts, 'payable'>> & { session?: Partial<PageFacts['payable']> };
function decideSessionPage({ session, ...facts }: Facts): {
  readonly state: string;
  readonly [field: string]: unknown;
} {
  const completeSession = {
    sessionId: 's',
    code: 'C',
    merchantOrderId: 'order-17',
    returnUrl: 'https://shop.example/return',
    cancelUrl: 'https://shop.example/cart',
    payableState: 'open',
    paymentCount: 0,
    expiresAt: new Date(NOW.getTime() + 1),
    payments: [],
    timeZones: [{ zone: 'Africa/Johannesburg' }],
    ...session,
  };
  return decidePage({
    payable: completeSession as unknown as PageFacts['payable'],
    address: { sessionId: 's' },
    codesUrl: 'https://codes.example',
    encryptionKey: {} as PublicKeyJwk,
    wantsAnotherCard: false,
    ownReferences: [],
    isInFlight: false,
    now: NOW,
    ...facts,
  }) as unknown as { state: string };
}
const buildPayment = (overrides: Partial<HostedPaymentSnapshot>): HostedPaymentSnapshot =>
  ({
    paymentReference: 'p',
    paymentUTCDate: timeAfterNow(-90_000),
    modifiedUTCDate: timeAfterNow(0),
    ...overrides,
  }) as HostedPaymentSnapshot;
/** A payment that waits for verification. @param millisecondsLeft time until the verification expires */
const buildVerification = (
  millisecondsLeft: number,
  overrides: Partial<HostedPaymentSnapshot> = {},
): HostedPaymentSnapshot =>
  buildPayment({
    state: 'verificationRequired',
    verificationUrl: 'https://bank.example/1',
    verificationUntilUTCDate: timeAfterNow(millisecondsLeft),
    ...overrides,
  });

describe('each period ends at the exact millisecond:', () => {
  test.each([
    ['open', 1],
    ['expired', 0],
  ])('the page of a session is %s %d ms before the expiry', (state, millisecondsLeft) => {
    expect(decideSessionPage({ session: { expiresAt: new Date(NOW.getTime() + millisecondsLeft) } }).state).toBe(state);
  });

  test.each([
    [false, 9_999],
    [true, 10_000],
  ])('the page of a processing payment has isLate = %s after %d ms', (isLate, millisecondsAgo) => {
    const processing = buildPayment({ state: 'processing', modifiedUTCDate: timeAfterNow(-millisecondsAgo) });
    expect(decideSessionPage({ session: { payableState: 'reserved', payments: [processing] } })).toMatchObject({
      state: 'processing',
      isLate,
    });
  });

  test('an old failed payment does not make the page of a new processing payment late', () => {
    const oldFailure = buildPayment({ state: 'failed', errors: [], modifiedUTCDate: timeAfterNow(-60_000) });
    const processing = buildPayment({ state: 'processing', modifiedUTCDate: timeAfterNow(-1) });
    for (const payments of [
      [oldFailure, processing],
      [processing, oldFailure],
    ])
      expect(decideSessionPage({ session: { payableState: 'reserved', payments } })).toMatchObject({ isLate: false });
  });

  test.each([
    ['succeeded', 59_999],
    ['already-paid', 60_000],
  ])('the page of a paid session is %s %d ms after the payment', (state, millisecondsAgo) => {
    const paid = buildPayment({ state: 'success', modifiedUTCDate: timeAfterNow(-millisecondsAgo) });
    expect(decideSessionPage({ session: { payableState: 'paid', payments: [paid] } }).state).toBe(state);
  });

  test.each([
    ['verification', 1],
    ['open', 0],
  ])('the page of a payment in verification is %s %d ms before the verification expires', (state, millisecondsLeft) => {
    expect(
      decideSessionPage({ session: { paymentCount: 1, payments: [buildVerification(millisecondsLeft)] } }).state,
    ).toBe(state);
  });
});

test.each([
  ['declined', MAX_SESSION_PAYMENTS - 1],
  ['refused', MAX_SESSION_PAYMENTS],
])('the page is %s after %d failed payments', (state, paymentCount) => {
  const failed = buildPayment({ state: 'failed', errors: [] });
  expect(decideSessionPage({ session: { paymentCount, payments: [failed] } }).state).toBe(state);
});

test('the page lists only the reversed payments, each with its amount including the tip, its card and its time', () => {
  const failed = buildPayment({ state: 'failed', errors: [] });
  const charge = { amount: 900, tipAmount: 90, currencyISOCode: 'ZAR', paymentMethodLabel: '**** 0119' };
  const reversed = buildPayment({
    state: 'failed',
    errors: [],
    reversedUTCDate: timeAfterNow(0),
    paymentMethodType: 'Card',
    ...charge,
  });
  const results = [[], [failed], [failed, reversed]].map(
    (payments) => decideSessionPage({ session: { payments } })['reversedCharges'],
  );
  const card = { cardLabel: '**** 0119', at: timeAfterNow(0), timeZone: 'Africa/Johannesburg' };
  const reversedCharge = { amountCents: 990, currencyISOCode: 'ZAR', ...card };
  expect(results).toEqual([[], [], [reversedCharge]]);
});

test('the page has no link to the shop while the bank may still charge the card', () => {
  const pages = [buildPayment({ state: 'processing' }), buildVerification(1)].map((payment) =>
    decideSessionPage({ session: { payments: [payment] } }),
  );
  expect(pages.map(({ state }) => state)).toEqual(['processing', 'verification']);
  for (const page of pages) expect(page).not.toHaveProperty('backToStoreUrl');
});

describe('the page', () => {
  const session = {
    sessionId: 's',
    payableVersion: 3,
    merchantName: 'Shop',
    siteName: null,
    code: 'C',
    paymentCount: 1,
  };
  const declined = buildPayment({
    state: 'failed',
    errors: [{ message: 'No money' }] as HostedPaymentSnapshot['errors'],
  });

  test('has the form, the decline reason, the code and a link to the shop if the shop redirected the payer to it', () => {
    expect(decideSessionPage({ session: { ...session, payments: [declined] } })).toMatchObject({
      state: 'declined',
      sessionVersion: 3,
      merchantName: 'Shop',
      siteName: undefined,
      paymentNumber: 2,
      paymentsLeft: MAX_SESSION_PAYMENTS - 1,
      expiresAt: timeAfterNow(1),
      decline: { message: 'No money' },
      code: expect.stringMatching(/^https:\/\/codes\.example\/.*C$/) as string,
      backToStoreUrl: expect.any(String) as string,
    });
    expect(decideSessionPage({ session: { ...session, siteName: 'Till 1' } })['siteName']).toBe('Till 1');
    expect(decideSessionPage({ session: { ...session, basket: null } })).not.toHaveProperty('basket');
  });

  test.each([
    [12_075, false],
    [10_500, true],
  ])('has the basket in every state, with the tax that the amount %d contains (included: %j)', (amount, isIncluded) => {
    const basket = { lines: [{ name: 'Mug', unitPrice: 5_000, quantity: 2 }], shippingAmount: 500, taxAmount: 1_575 };
    for (const payments of [[], [declined], [buildPayment({ state: 'success' })]])
      expect(decideSessionPage({ session: { ...session, payments, amount, basket } })['basket']).toEqual({
        lines: [{ label: 'Mug', quantity: 2, unitPriceCents: 5_000, amountCents: 10_000 }],
        totalCents: amount,
        shippingCents: 500,
        tax: { amountCents: 1_575, isIncluded },
      });
  });

  test('has neither the code nor a link to the shop if it was opened by its code', () => {
    const address = { code: 'C' } as unknown as PageFacts['address'];
    const form = decideSessionPage({ address, session });
    const receipt = decideSessionPage({
      address,
      session: { ...session, payments: [buildPayment({ state: 'success' })] },
    });
    expect([form.state, receipt.state]).toEqual(['declined', 'succeeded']);
    for (const page of [form, receipt])
      for (const field of ['code', 'backToStoreUrl', 'returnUrl']) expect(page).not.toHaveProperty(field);
    expect(
      decideSessionPage({ session: { ...session, payments: [buildPayment({ state: 'success' })] } }),
    ).toHaveProperty('returnUrl');
  });

  test('has the state cancelled if the session is closed', () => {
    const page = decideSessionPage({ session: { ...session, payableState: 'closed' } });
    expect(page).toMatchObject({ state: 'cancelled', merchantName: 'Shop' });
  });

  test.each([
    ['shop', undefined, '?sessionId=s&card=another'],
    ['code', { code: 'C' }, '?card=another'],
  ])('has a link to use another card during a verification (opened from the %s)', (_, address, url) => {
    const facts = { session: { ...session, payments: [buildVerification(1)] }, ...(address ? { address } : {}) };
    expect(decideSessionPage(facts)).toMatchObject({
      anotherCardUrl: url,
      verificationUrl: 'https://bank.example/1',
      until: timeAfterNow(1),
    });
  });

  test.each([
    ['a pay request is in flight', { isInFlight: true, session }],
    ['the payable is paid, but its payment has not arrived', { session: { ...session, payableState: 'paid' } }],
  ] as [string, Facts][])('is processing and not late while %s', (_, facts) => {
    expect(decideSessionPage(facts)).toMatchObject({ state: 'processing', isLate: false });
  });
});

test('a payment in verification without a deadline or a URL does not lead the payer to the bank: the page shows the form', () => {
  const { verificationUntilUTCDate: _, ...withoutDeadline } = buildVerification(1);
  const { verificationUrl: __, ...withoutUrl } = buildVerification(1);
  for (const inVerification of [withoutDeadline, withoutUrl])
    expect(decideSessionPage({ session: { paymentCount: 1, payments: [inVerification] } }).state).toBe('open');
});

test.each([
  { extended: false, canExtend: true },
  { extended: true, canExtend: false },
])('the payer can extend a session once: canExtend is $canExtend if extended is $extended', ({ extended, canExtend }) =>
  expect(decideSessionPage({ session: { extended } })['canExtend']).toBe(canExtend),
);

test.each([
  ['zu', 'zu'],
  [null, undefined],
])('the page of a session with the locale %j has the locale %j', (locale, expected) =>
  expect(decideSessionPage({ session: { locale } })['locale']).toBe(expected),
);

test('a receipt names the card only if the payer paid by card', () => {
  const decideReceipt = (paymentMethodType: HostedPaymentSnapshot['paymentMethodType']): object =>
    decideSessionPage({
      session: { payments: [buildPayment({ state: 'success', paymentMethodType, paymentMethodLabel: 'Label' })] },
    });
  expect(decideReceipt('Card')).toMatchObject({ charge: { cardLabel: 'Label' } });
  expect(decideReceipt('Voucher')).not.toHaveProperty('charge.cardLabel');
});

test('the page after a failed payment without an error has no decline reason', () => {
  const failed = buildPayment({ state: 'failed', errors: [] });
  const page = decideSessionPage({ session: { paymentCount: 1, payments: [failed] } });
  expect([page.state, page['decline']]).toEqual(['declined', undefined]);
});

test('the first of two payments that were accepted in the same millisecond determines the page', () => {
  const failed = buildPayment({ state: 'failed', errors: [] });
  const inVerification = buildVerification(1, { paymentReference: 'q' });
  expect(decideSessionPage({ session: { paymentCount: 2, payments: [inVerification, failed] } }).state).toBe(
    'verification',
  );
  expect(decideSessionPage({ session: { paymentCount: 2, payments: [failed, inVerification] } }).state).toBe(
    'declined',
  );
});

test('the payer of a payment in verification can use another card only while the session can be paid', () => {
  const inVerification = { paymentCount: 1, payments: [buildVerification(1)] };
  const expired = { expiresAt: NOW };
  const results = [
    inVerification,
    { ...inVerification, paymentCount: MAX_SESSION_PAYMENTS },
    { ...inVerification, ...expired },
  ].map((session) => [
    decideSessionPage({ session }).state,
    'anotherCardUrl' in decideSessionPage({ session }),
    decideSessionPage({ session, wantsAnotherCard: true }).state,
  ]);
  expect(results).toEqual([
    ['verification', true, 'open'],
    ['verification', false, 'verification'],
    ['verification', false, 'verification'],
  ]);
});

test('the later of two payments determines the page, unless it came through a partner', () => {
  const earlier = buildPayment({ state: 'failed', errors: [], paymentUTCDate: timeAfterNow(-2) });
  const later = buildVerification(1, { paymentReference: 'q', paymentUTCDate: timeAfterNow(-1) });
  for (const payments of [
    [earlier, later],
    [later, earlier],
  ])
    expect(decideSessionPage({ session: { paymentCount: 2, payments } }).state).toBe('verification');
  const byPartner = { ...later, partner: {} } as HostedPaymentSnapshot;
  expect(decideSessionPage({ session: { paymentCount: 2, payments: [earlier, byPartner] } }).state).toBe('declined');
  expect(decideSessionPage({ session: { paymentCount: 1, payments: [byPartner] } }).state).toBe('open');
});

describe('the link back to the store (H6)', () => {
  const buildFailure = (acceptedAfterNow: number, reference: string): HostedPaymentSnapshot =>
    buildPayment({
      state: 'failed',
      errors: [],
      paymentReference: reference,
      paymentUTCDate: timeAfterNow(acceptedAfterNow),
    });
  const buildSuccess = (acceptedAfterNow: number): HostedPaymentSnapshot =>
    buildPayment({ state: 'success', paymentReference: 'PAID', paymentUTCDate: timeAfterNow(acceptedAfterNow) });
  /** Path, paymentStatus and paymentReference of the link. */
  const storeLinkParts = (page: object): unknown => {
    const { backToStoreUrl } = page as { backToStoreUrl?: string };
    if (backToStoreUrl === undefined) return undefined;
    const { pathname, searchParams } = new URL(backToStoreUrl);
    return [pathname, searchParams.get('paymentStatus'), searchParams.get('paymentReference')];
  };

  test.each([
    ['before', [buildFailure(-1, 'A'), buildSuccess(-2)]],
    ['after', [buildFailure(-3, 'A'), buildSuccess(-2)]],
    ['between', [buildFailure(-1, 'B'), buildSuccess(-2), buildFailure(-3, 'A')]],
  ])('reports the successful payment if it was accepted %s the failed payments', (_, payments) => {
    for (const payableState of ['paid', 'open'] as const)
      for (const rows of [payments, payments.toReversed()]) {
        const page = decideSessionPage({ session: { payableState, paymentCount: 3, payments: rows } });
        expect([page.state, storeLinkParts(page)]).toEqual(['succeeded', ['/return', 'Success', 'PAID']]);
      }
  });

  test('reports the latest failed payment if no payment succeeded', () => {
    const page = decideSessionPage({
      session: { paymentCount: 2, payments: [buildFailure(-2, 'A'), buildFailure(-1, 'B')] },
    });
    expect([page.state, storeLinkParts(page)]).toEqual(['declined', ['/cart', 'Failed', 'B']]);
  });

  const processing = buildPayment({ state: 'processing', paymentReference: 'C', paymentUTCDate: timeAfterNow(-1) });
  test.each<[string, Facts]>([
    [
      'a payment is processing',
      { session: { payableState: 'reserved', payments: [processing, buildFailure(-2, 'A')] } },
    ],
    ['the payable is reserved', { session: { payableState: 'reserved', payments: [buildFailure(-2, 'A')] } }],
    ['the payable is paid, but its payment has not arrived', { session: { payableState: 'paid', payments: [] } }],
    ['a pay request is in flight', { isInFlight: true, session: { payments: [buildFailure(-2, 'A')] } }],
    [
      'a payment is processing, but the new state of its payable has not arrived',
      { session: { payableState: 'open', payments: [processing] } },
    ],
  ])('is omitted while %s', (_, facts) => {
    const page = decideSessionPage(facts);
    expect([page.state, storeLinkParts(page)]).toEqual(['processing', undefined]);
  });
});

test('each time has the zone that the merchant had at that time', () => {
  const timeZones = [{ zone: 'Asia/Kathmandu' }, { zone: 'America/New_York', from: timeAfterNow(0) }];
  const paid = (modifiedUTCDate: string) => buildPayment({ state: 'success', modifiedUTCDate });
  const decide = (payment: HostedPaymentSnapshot) => decideSessionPage({ session: { timeZones, payments: [payment] } });
  expect(decide(paid(timeAfterNow(-1)))).toMatchObject({ charge: { timeZone: 'Asia/Kathmandu' } });
  expect(decide(paid(timeAfterNow(0)))).toMatchObject({ charge: { timeZone: 'America/New_York' } });
  expect(decide(buildVerification(60_000))).toMatchObject({
    ...{ charge: { timeZone: 'Asia/Kathmandu' }, untilTimeZone: 'America/New_York' },
  });
  expect(decideSessionPage({ session: { timeZones } })).toMatchObject({ state: 'open', timeZone: 'America/New_York' });
});
