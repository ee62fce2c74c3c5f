import type { HostedPaymentSnapshot, PublicKeyJwk } from '@svc/contracts';
import { MAX_SESSION_ATTEMPTS } from '../../sessions/max-session-attempts.js';
import { decidePage, type PageFacts } from './decide-page.js';

const NOW = new Date('2026-03-01T10:00:00.000Z');
const after = (milliseconds: number): string => new Date(NOW.getTime() + milliseconds).toISOString();

type Facts = Partial<Omit<PageFacts, 'session'>> & { session?: Partial<PageFacts['session']> };
function pageOf({ session, ...facts }: Facts): { readonly state: string; readonly [field: string]: unknown } {
  const whole = {
    sessionId: 's',
    code: null,
    returnUrl: 'https://shop.example/return',
    cancelUrl: 'https://shop.example/cart',
    payableState: 'open',
    tries: 0,
    expiresAt: new Date(NOW.getTime() + 1),
    payments: [],
    ...session,
  };
  return decidePage({
    session: whole as unknown as PageFacts['session'],
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
const payment = (over: Partial<HostedPaymentSnapshot>): HostedPaymentSnapshot =>
  ({
    paymentReference: 'p',
    paymentUTCDate: after(-90_000),
    modifiedUTCDate: after(0),
    ...over,
  }) as HostedPaymentSnapshot;
const verification = (until: number, over: Partial<HostedPaymentSnapshot> = {}): HostedPaymentSnapshot =>
  payment({
    state: 'verificationRequired',
    verificationUrl: 'https://bank.example/1',
    verificationUntilUTCDate: after(until),
    ...over,
  });

describe('each period on the page ends at the exact millisecond', () => {
  test.each([
    ['open', 1],
    ['expired', 0],
  ])('a session is %s %d ms before its expiry', (state, left) => {
    expect(pageOf({ session: { expiresAt: new Date(NOW.getTime() + left) } }).state).toBe(state);
  });

  test.each([
    [false, 9_999],
    [true, 10_000],
  ])('a payment has isLate = %s after %d ms', (isLate, ago) => {
    const underWay = payment({ state: 'processing', modifiedUTCDate: after(-ago) });
    expect(pageOf({ session: { payableState: 'reserved', payments: [underWay] } })).toMatchObject({
      state: 'processing',
      isLate,
    });
  });

  test('of several payments, only the processing one can be late', () => {
    const old = payment({ state: 'failed', errors: [], modifiedUTCDate: after(-60_000) });
    const underWay = payment({ state: 'processing', modifiedUTCDate: after(-1) });
    for (const payments of [
      [old, underWay],
      [underWay, old],
    ])
      expect(pageOf({ session: { payableState: 'reserved', payments } })).toMatchObject({ isLate: false });
  });

  test.each([
    ['succeeded', 59_999],
    ['already-paid', 60_000],
  ])('a paid session is %s after %d ms', (state, ago) => {
    const paid = payment({ state: 'success', modifiedUTCDate: after(-ago) });
    expect(pageOf({ session: { payableState: 'paid', payments: [paid] } }).state).toBe(state);
  });

  test.each([
    ['verification', 1],
    ['open', 0],
  ])('a payer at the bank sees %s with %d ms left', (state, left) => {
    expect(pageOf({ session: { tries: 1, payments: [verification(left)] } }).state).toBe(state);
  });
});

test.each([
  ['declined', MAX_SESSION_ATTEMPTS - 1],
  ['refused', MAX_SESSION_ATTEMPTS],
])('the page is %s after %d tries', (state, tries) => {
  const failed = payment({ state: 'failed', errors: [] });
  expect(pageOf({ session: { tries, payments: [failed] } }).state).toBe(state);
});

test('the page shows exactly the reversed charges, with tip, card and time', () => {
  const failed = payment({ state: 'failed', errors: [] });
  const of = { amount: 900, tipAmount: 90, currencyISOCode: 'ZAR', paymentMethodLabel: '**** 0119' };
  const reversed = payment({
    state: 'failed',
    errors: [],
    reversedUTCDate: after(0),
    paymentMethodType: 'Card',
    ...of,
  });
  const seen = [[], [failed], [failed, reversed]].map(
    (payments) => pageOf({ session: { payments } })['reversedCharges'],
  );
  const told = { amountCents: 990, currencyISOCode: 'ZAR', cardLabel: '**** 0119', at: after(0) };
  expect(seen).toEqual([[], [], [told]]);
});

test('the page has no link to the shop while the bank may still charge', () => {
  const pages = [payment({ state: 'processing' }), verification(1)].map((each) =>
    pageOf({ session: { payments: [each] } }),
  );
  expect(pages.map(({ state }) => state)).toEqual(['processing', 'verification']);
  for (const page of pages) expect(page).not.toHaveProperty('backToStoreUrl');
});

describe('the whole page', () => {
  const session = { sessionId: 's', payableVersion: 3, merchantName: 'Shop', siteName: null, code: 'C', tries: 1 };
  const declined = payment({ state: 'failed', errors: [{ message: 'No money' }] as HostedPaymentSnapshot['errors'] });

  test('after a redirect from the shop has the form, the decline reason, and the code', () => {
    expect(pageOf({ session: { ...session, payments: [declined] } })).toMatchObject({
      state: 'declined',
      sessionVersion: 3,
      merchantName: 'Shop',
      siteName: undefined,
      try: 2,
      triesLeft: MAX_SESSION_ATTEMPTS - 1,
      expiresAt: after(1),
      decline: { message: 'No money' },
      code: expect.stringMatching(/^https:\/\/codes\.example\/.*C$/) as string,
      backToStoreUrl: expect.any(String) as string,
    });
    expect(pageOf({ session: { ...session, siteName: 'Till 1' } })['siteName']).toBe('Till 1');
    expect('code' in pageOf({ session: { ...session, code: null } })).toBe(false);
  });

  test('after a scan has neither code nor a link to the shop', () => {
    const address = { code: 'C' } as unknown as PageFacts['address'];
    const form = pageOf({ address, session });
    const receipt = pageOf({ address, session: { ...session, payments: [payment({ state: 'success' })] } });
    expect([form.state, receipt.state]).toEqual(['declined', 'succeeded']);
    for (const page of [form, receipt])
      for (const field of ['code', 'backToStoreUrl', 'returnUrl']) expect(page).not.toHaveProperty(field);
    expect(pageOf({ session: { ...session, payments: [payment({ state: 'success' })] } })).toHaveProperty('returnUrl');
  });

  test('of a closed session shows only its state', () => {
    const page = pageOf({ session: { ...session, payableState: 'closed' } });
    expect(page).toMatchObject({ state: 'cancelled', merchantName: 'Shop' });
  });

  test.each([
    ['shop', undefined, '?sessionId=s&card=another'],
    ['code', { code: 'C' }, '?card=another'],
  ])('of a payer in verification, from the %s, has the link to another card', (_, address, url) => {
    const facts = { session: { ...session, payments: [verification(1)] }, ...(address ? { address } : {}) };
    expect(pageOf(facts)).toMatchObject({
      anotherCardUrl: url,
      verificationUrl: 'https://bank.example/1',
      until: after(1),
    });
  });

  test.each([
    ['a press of Pay is being passed on', { isInFlight: true, session }],
    ['the payable is paid, and the payment not known yet', { session: { ...session, payableState: 'paid' } }],
  ] as [string, Facts][])('is not late while %s', (_, facts) => {
    expect(pageOf(facts)).toMatchObject({ state: 'processing', isLate: false });
  });
});

test('without a deadline a payer is not sent to the bank for verification', () => {
  const { verificationUntilUTCDate: _, ...waiting } = verification(1);
  expect(pageOf({ session: { tries: 1, payments: [waiting] } }).state).toBe('open');
});

test('another card can only be used while the session is payable', () => {
  const waiting = { tries: 1, payments: [verification(1)] };
  const expired = { expiresAt: NOW };
  const seen = [waiting, { ...waiting, tries: MAX_SESSION_ATTEMPTS }, { ...waiting, ...expired }].map((session) => [
    pageOf({ session }).state,
    'anotherCardUrl' in pageOf({ session }),
    pageOf({ session, wantsAnotherCard: true }).state,
  ]);
  expect(seen).toEqual([
    ['verification', true, 'open'],
    ['verification', false, 'verification'],
    ['verification', false, 'verification'],
  ]);
});

test('of two payments the later one determines the page, and never that of a partner', () => {
  const earlier = payment({ state: 'failed', errors: [], paymentUTCDate: after(-2) });
  const later = verification(1, { paymentReference: 'q', paymentUTCDate: after(-1) });
  for (const payments of [
    [earlier, later],
    [later, earlier],
  ])
    expect(pageOf({ session: { tries: 2, payments } }).state).toBe('verification');
  const partners = { ...later, partner: {} } as HostedPaymentSnapshot;
  expect(pageOf({ session: { tries: 2, payments: [earlier, partners] } }).state).toBe('declined');
  expect(pageOf({ session: { tries: 1, payments: [partners] } }).state).toBe('open');
});

describe('the link back to the store (H6)', () => {
  const failed = (accepted: number, reference: string): HostedPaymentSnapshot =>
    payment({ state: 'failed', errors: [], paymentReference: reference, paymentUTCDate: after(accepted) });
  const paid = (accepted: number): HostedPaymentSnapshot =>
    payment({ state: 'success', paymentReference: 'PAID', paymentUTCDate: after(accepted) });
  const wayBackOf = (page: object): unknown => {
    const { backToStoreUrl } = page as { backToStoreUrl?: string };
    if (backToStoreUrl === undefined) return undefined;
    const { pathname, searchParams } = new URL(backToStoreUrl);
    return [pathname, searchParams.get('paymentStatus'), searchParams.get('paymentReference')];
  };

  test.each([
    ['before', [failed(-1, 'A'), paid(-2)]],
    ['after', [failed(-3, 'A'), paid(-2)]],
    ['between', [failed(-1, 'B'), paid(-2), failed(-3, 'A')]],
  ])('a success that was accepted %s the failures determines the link, in any order', (_, payments) => {
    for (const payableState of ['paid', 'open'] as const)
      for (const known of [payments, payments.toReversed()]) {
        const page = pageOf({ session: { payableState, tries: 3, payments: known } });
        expect([page.state, wayBackOf(page)]).toEqual(['succeeded', ['/return', 'Success', 'PAID']]);
      }
  });

  test('without a success the latest failure determines the link', () => {
    const page = pageOf({ session: { tries: 2, payments: [failed(-2, 'A'), failed(-1, 'B')] } });
    expect([page.state, wayBackOf(page)]).toEqual(['declined', ['/cart', 'Failed', 'B']]);
  });

  const underWay = payment({ state: 'processing', paymentReference: 'C', paymentUTCDate: after(-1) });
  test.each<[string, Facts]>([
    ['a payment is processing', { session: { payableState: 'reserved', payments: [underWay, failed(-2, 'A')] } }],
    ['the payable is reserved', { session: { payableState: 'reserved', payments: [failed(-2, 'A')] } }],
    ['the payable is paid, and the payment not known yet', { session: { payableState: 'paid', payments: [] } }],
    ['a press of Pay is being passed on', { isInFlight: true, session: { payments: [failed(-2, 'A')] } }],
    ['the payment is known before its payable', { session: { payableState: 'open', payments: [underWay] } }],
  ])('is omitted while %s', (_, facts) => {
    const page = pageOf(facts);
    expect([page.state, wayBackOf(page)]).toEqual(['processing', undefined]);
  });
});
