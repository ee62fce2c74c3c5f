import { findRequestProblems } from '../../../test/adyen/adyen-documents.js';
import {
  errorResponse,
  LOST,
  ScriptedAdyen,
  type ScriptedResponse,
  SETTINGS,
  TRANSIENT,
} from '../../../test/adyen/scripted-adyen.js';
import type { CaptureTerms, RefundTerms } from '../acquirer.js';

// Each test has a server of its own, because a request whose caller has given up may arrive during the next test.
let adyen: ScriptedAdyen;
beforeEach(async () => {
  adyen = await ScriptedAdyen.start();
});
afterEach(async () => {
  await adyen.stop();
  expect(adyen.takeRequestProblems()).toEqual([]);
});

const ACCOUNT = { mode: 'test', accountReference: 'ExampleShop' } as const;
const CHARGE_KEY = '37ca9c97-d1d1-4c62-89e8-706891a563ed';
const REFUND_KEY = '0d7a1c0e-6a3e-4b29-9a3c-2b8a8d5e1f00';
const PAYMENT = { account: ACCOUNT, chargeKey: CHARGE_KEY, paymentReference: '1ABCDEF23456789XYZ' };
const CAPTURE: CaptureTerms = {
  ...PAYMENT,
  keyNumber: 1,
  chargeReference: 'JLCMPCQ8HXSKGK82',
  amount: 12_345,
  currencyISOCode: 'ZAR',
};
const REFUND: RefundTerms = {
  ...PAYMENT,
  idempotencyKey: REFUND_KEY,
  chargeReference: 'JLCMPCQ8HXSKGK82',
  acquirerReference: undefined,
  amount: 345,
  currencyISOCode: 'ZAR',
};
/** The setting names another account now. */
const VAULT_CARD = { vaultToken: 'KHQC5N7G84BLNK43:0123456789abcdef', vaultAccount: 'EarlierVault' };
const CARD = { cardNumber: '4111111111111111', holderName: 'S Hopper', expiryMonth: 3, expiryYear: 2030 };
const RECEIVED: ScriptedResponse = { status: 201, body: { pspReference: 'MODIFICATION0001', status: 'received' } };
const signal = (): AbortSignal => AbortSignal.timeout(5_000);
const capture = () => adyen.acquirer.capture(CAPTURE, signal());
const refund = () => adyen.acquirer.refund(REFUND, signal());
const reverse = () => adyen.acquirer.reverse(PAYMENT);

type Outcome = 'received' | 'rejected' | 'refused' | 'answered' | 'unknown';
/** The outcome of a capture. A refused request was not executed, so a request under another key is. */
const CAPTURE_OUTCOMES: Readonly<Record<Outcome, object>> = {
  received: { kind: 'received', acquirerReference: 'MODIFICATION0001' },
  rejected: { kind: 'rejected' },
  refused: { kind: 'unknown', isAnswered: true },
  answered: { kind: 'unknown', isAnswered: true },
  unknown: { kind: 'unknown' },
};
/** The outcome of a refund. Adyen may have refunded if it answered without an outcome, so no other request follows. */
const REFUND_OUTCOMES: Readonly<Record<Outcome, object>> = {
  received: { kind: 'pending', acquirerReference: 'MODIFICATION0001' },
  rejected: { kind: 'declined', acquirerReference: expect.any(String) },
  refused: { kind: 'unknown' },
  answered: { kind: 'uncertain' },
  unknown: { kind: 'unknown' },
};

/** Responses to a capture or a refund, each with the outcome of both. */
const RESPONSES: readonly [string, ScriptedResponse, Outcome][] = [
  ['an accepted request', RECEIVED, 'received'],
  ['an unknown payment', errorResponse(422, '167'), 'rejected'],
  ['a wrong merchant account', errorResponse(422, '901'), 'refused'],
  ['an internal error', errorResponse(422, '905', 'internal'), 'answered'],
  ['a wrong API key', errorResponse(401, '000', 'security'), 'refused'],
  ['a missing permission', errorResponse(403, '010', 'security'), 'refused'],
  ['a malformed request', errorResponse(400, '702'), 'refused'],
  ['too many requests', errorResponse(429, '29_001'), 'unknown'],
  ['an error of Adyen', errorResponse(500, '905', 'internal'), 'answered'],
  ['another status', { status: 201, body: { pspReference: 'M', status: 'new' } }, 'answered'],
  [
    'a status of HTTP that no operation has',
    { status: 202, body: { pspReference: 'M', status: 'received' } },
    'answered',
  ],
  ['no reference', { status: 201, body: { status: 'received' } }, 'answered'],
  ['a body that is no JSON', { status: 201, body: '<html>' }, 'answered'],
];

describe('a capture', () => {
  test('is a request about the charge under a key of its own', async () => {
    adyen.respondWith(RECEIVED);
    expect(await capture()).toEqual({ kind: 'received', acquirerReference: 'MODIFICATION0001' });
    expect(adyen.onlyBody).toEqual({
      merchantAccount: 'ExampleShop',
      reference: PAYMENT.paymentReference,
      amount: { value: 12_345, currency: 'ZAR' },
    });
    expect(adyen.requests).toMatchObject([
      { path: '/payments/JLCMPCQ8HXSKGK82/captures', headers: { 'idempotency-key': `capture-${CHARGE_KEY}` } },
    ]);
  });

  test.each(RESPONSES)('with %s has its outcome', async (_, response, kind) => {
    adyen.respondWith(response);
    expect(await capture()).toEqual(CAPTURE_OUTCOMES[kind]);
    expect(adyen.logLines).toHaveLength(kind === 'received' ? 0 : 1);
  });

  test('has another key for each number', async () => {
    adyen.respondWith(RECEIVED);
    await adyen.acquirer.capture({ ...CAPTURE, keyNumber: 2 }, signal());
    expect(adyen.requests).toMatchObject([{ headers: { 'idempotency-key': `capture-${CHARGE_KEY}-2` } }]);
  });

  test('whose repeat is refused may have been received before', async () => {
    adyen.respondWith(LOST, errorResponse(401, '000', 'security'));
    expect(await capture()).toEqual({ kind: 'unknown' });
  });

  test.each([LOST, TRANSIENT])('is repeated after a lost response', async (lost) => {
    adyen.respondWith(lost, RECEIVED);
    expect(await capture()).toMatchObject({ kind: 'received' });
  });

  test('about a reference with special characters cannot call another path', async () => {
    adyen.respondWith(RECEIVED);
    await adyen.acquirer.capture({ ...CAPTURE, chargeReference: '../cancels?x' }, signal());
    expect(adyen.requests).toMatchObject([{ path: '/payments/..%2Fcancels%3Fx/captures' }]);
  });
});

describe('a refund', () => {
  test('is pending under the key of the refund', async () => {
    adyen.respondWith(RECEIVED);
    expect(await refund()).toEqual({ kind: 'pending', acquirerReference: 'MODIFICATION0001' });
    expect(adyen.onlyBody).toEqual({
      merchantAccount: 'ExampleShop',
      reference: REFUND_KEY,
      amount: { value: 345, currency: 'ZAR' },
    });
    expect(adyen.requests).toMatchObject([
      { path: '/payments/JLCMPCQ8HXSKGK82/refunds', headers: { 'idempotency-key': `refund-${REFUND_KEY}` } },
    ]);
  });

  test.each(RESPONSES)('with %s has its outcome', async (_, response, outcome) => {
    adyen.respondWith(response);
    expect(await refund()).toEqual(REFUND_OUTCOMES[outcome]);
  });

  test('that is rejected without a reference has the reference of the refund', async () => {
    adyen.respondWith(errorResponse(422, '167'));
    expect(await refund()).toEqual({ kind: 'declined', acquirerReference: REFUND_KEY });
  });

  test('is not queried: it is sent again until its reference is known', async () => {
    expect(await adyen.acquirer.getRefundStatus(REFUND)).toEqual({ kind: 'notFound' });
    const known = { ...REFUND, acquirerReference: 'MODIFICATION0001' };
    expect(await adyen.acquirer.getRefundStatus(known)).toEqual({
      kind: 'pending',
      acquirerReference: 'MODIFICATION0001',
    });
    expect(adyen.requests).toEqual([]);
  });
});

describe('a reversal', () => {
  test('cancels by the reference of the payment, without an idempotency key', async () => {
    adyen.respondWith(RECEIVED);
    expect(await reverse()).toEqual({ kind: 'unconfirmed' });
    expect(adyen.onlyBody).toEqual({
      merchantAccount: 'ExampleShop',
      paymentReference: PAYMENT.paymentReference,
      reference: PAYMENT.paymentReference,
    });
    expect(adyen.requests[0]!.path).toBe('/cancels');
    expect(adyen.requests[0]!.headers).not.toHaveProperty('idempotency-key');
  });

  test.each([...RESPONSES.map(([, response]) => response), LOST])(
    'is never confirmed by a response',
    async (response) => {
      adyen.respondWith(response);
      expect(await reverse()).toEqual({ kind: 'unconfirmed' });
      expect(adyen.requests).toHaveLength(1);
    },
  );
});

describe('a card', () => {
  const stored = (id: unknown): ScriptedResponse => ({ status: 201, body: { id, lastFour: '1111' } });

  test('is stored with a shopper of its own, and both are its token', async () => {
    adyen.respondWith(stored('KHQC5N7G84BLNK43'));
    const card = await adyen.acquirer.storeCard(CARD, 'test');
    const { shopperReference } = adyen.onlyBody as { shopperReference: string };
    expect(card).toEqual({ vaultToken: `KHQC5N7G84BLNK43:${shopperReference}`, vaultAccount: 'ExampleVault' });
    expect(shopperReference).toMatch(/^[0-9a-f]{32}$/);
    expect(adyen.onlyBody).toEqual({
      merchantAccount: 'ExampleVault',
      shopperReference,
      recurringProcessingModel: 'CardOnFile',
      paymentMethod: {
        type: 'scheme',
        number: '4111111111111111',
        expiryMonth: '03',
        expiryYear: '2030',
        holderName: 'S Hopper',
      },
    });
    await adyen.acquirer.storeCard(CARD, 'test');
    const shoppers = adyen.requests.map(({ body }) => (JSON.parse(body) as typeof adyen.onlyBody).shopperReference);
    expect(new Set(shoppers).size).toBe(2);
  });

  test.each<[string, ScriptedResponse, string]>([
    ['an invalid number', errorResponse(422, '101'), 'invalid'],
    ['another invalid field', errorResponse(422, '129'), 'unknown'],
    ['a wrong API key', errorResponse(401, '000', 'security'), 'unknown'],
    ['an error of Adyen', errorResponse(500, '905', 'internal'), 'unknown'],
    ['a status of HTTP that the operation has not', { status: 200, body: { id: 'KHQC5N7G84BLNK43' } }, 'unknown'],
    ['no token', stored(undefined), 'unknown'],
    ['a token that is too long', stored('x'.repeat(65)), 'unknown'],
    ['a token with the separator', stored('a:b'), 'unknown'],
    ['a body that is no JSON', { status: 201, body: '<html>' }, 'unknown'],
  ])('with %s is not stored', async (_, response, outcome) => {
    adyen.respondWith(response);
    expect(await adyen.acquirer.storeCard(CARD, 'test')).toBe(outcome);
    expect(JSON.stringify(adyen.logLines)).not.toMatch(/4111|2030|Hopper/);
  });

  test('with the longest token fits into its column', async () => {
    adyen.respondWith(stored('x'.repeat(64)));
    const card = (await adyen.acquirer.storeCard(CARD, 'test')) as { vaultToken: string };
    expect(card.vaultToken).toHaveLength(97);
  });

  test('is stored once if the response is lost', async () => {
    adyen.respondWith(LOST, stored('KHQC5N7G84BLNK43'));
    expect(await adyen.acquirer.storeCard(CARD, 'test')).toMatchObject({ vaultToken: expect.any(String) });
    expect(new Set(adyen.requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
  });

  test.each([
    [204, true],
    [404, false],
    [200, false],
    [401, false],
    [422, false],
    [500, false],
  ])('is deleted with status %d: %p', async (status, isDeleted) => {
    adyen.respondWith(status === 204 ? { status } : { status, body: {} });
    expect(await adyen.acquirer.deleteCard(VAULT_CARD, 'test')).toBe(isDeleted);
    const [request] = adyen.requests;
    expect(`${request!.method} ${request!.path}`).toBe(
      'DELETE /storedPaymentMethods/KHQC5N7G84BLNK43?shopperReference=0123456789abcdef&merchantAccount=EarlierVault',
    );
    expect(request!.body).toBe('');
  });

  test('is already deleted if Adyen does not find it, as after a deletion whose response was lost', async () => {
    adyen.respondWith(errorResponse(422, '803'));
    expect(await adyen.acquirer.deleteCard(VAULT_CARD, 'test')).toBe(true);
  });

  test('is not deleted if the response is lost, in another mode, or with the token of another acquirer', async () => {
    adyen.respondWith(LOST);
    expect(await adyen.acquirer.deleteCard(VAULT_CARD, 'test')).toBe(false);
    expect(adyen.requests).toHaveLength(1);
    expect(await adyen.acquirer.deleteCard(VAULT_CARD, 'live')).toBe(false);
    expect(await adyen.acquirer.storeCard(CARD, 'live')).toBe('unknown');
    expect(await adyen.acquirer.deleteCard({ ...VAULT_CARD, vaultToken: 'card-1' }, 'test')).toBe(false);
    expect(await adyen.acquirer.deleteCard({ ...VAULT_CARD, vaultAccount: undefined }, 'test')).toBe(false);
    expect(adyen.requests).toHaveLength(1);
  });
});

test('states that Adyen does not report are not queried', async () => {
  const { acquirer } = adyen;
  const verification = { challengeReference: 'c', result: undefined };
  expect(await acquirer.getChallengeState(verification)).toBe('pending');
  expect(await acquirer.getChallengeState({ ...verification, result: 'r' })).toBe('passed');
  expect(await acquirer.getChargeStatus()).toEqual({ kind: 'unknown' });
  expect(adyen.requests).toEqual([]);
});

test('only a mode with settings is supported, and no merchant has a default account', async () => {
  const [none, both] = [adyen.newAcquirer({}), adyen.newAcquirer({ test: SETTINGS, live: SETTINGS })];
  const supported = [none, adyen.acquirer, both].map((each) => [each.supportsMode('test'), each.supportsMode('live')]);
  expect(supported).toEqual([
    [false, false],
    [true, false],
    [true, true],
  ]);
  expect(both.getDefaultAccount()).toBeUndefined();
  expect([both.name, both.capturesSeparately]).toEqual(['adyen', true]);
  await Promise.all([none.onApplicationShutdown(), both.onApplicationShutdown()]);
});

test('requests that do not follow the document are found', () => {
  const headers = { 'x-api-key': 'k', 'idempotency-key': 'x'.repeat(65) };
  const request = { method: 'POST', path: '/cancels', headers, body: '{"merchantAccount":1,"other":true}' };
  expect(findRequestProblems(request)).toEqual([
    'The idempotency key is too long',
    'The body is not sent as JSON',
    expect.stringContaining("must have required property 'paymentReference'"),
    expect.stringContaining('must NOT have additional properties'),
    expect.stringContaining('/merchantAccount must be string'),
  ]);
  expect(findRequestProblems({ ...request, path: '/other', headers: {} })).toEqual([
    'The document has no operation POST /other',
  ]);
  const deletion = { method: 'DELETE', path: '/storedPaymentMethods/1?merchantAccount=a', headers: {}, body: 'x' };
  expect(findRequestProblems(deletion)).toEqual([
    'The query has no shopperReference',
    'There is no API key',
    'The operation has no body',
  ]);
});
