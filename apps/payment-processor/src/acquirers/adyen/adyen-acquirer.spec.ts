import { PUBLISHED_REFUSAL_REASONS } from '../../../test/adyen/adyen-documents.js';
import {
  APPROVED,
  ATTEMPT_ID,
  AUTHORISED,
  BROWSER,
  CARD,
  payment,
  TERMS,
  VERIFIED,
} from '../../../test/adyen/charge-terms.js';
import {
  errorResponse,
  IN_PROGRESS,
  LOST,
  ScriptedAdyen,
  type ScriptedResponse,
  SETTINGS,
  SILENT,
  TRANSIENT,
} from '../../../test/adyen/scripted-adyen.js';
import type { CardCharge } from '../acquirer.js';
import { REFUSAL_REASONS } from './refusal-reasons.js';

// Each test has a server of its own, because a request whose caller has given up may arrive during the next test.
let adyen: ScriptedAdyen;
beforeEach(async () => {
  adyen = await ScriptedAdyen.start();
});
afterEach(async () => {
  await adyen.stop();
  expect(adyen.takeRequestProblems()).toEqual([]);
});

const CHARGE: CardCharge = {
  ...TERMS,
  card: CARD,
  bankReturnUrl: 'https://pay.example/returned/1',
  pageOrigin: 'https://pay.example',
  payer: { address: '192.0.2.1', browser: BROWSER, email: 'payer@example.com' },
};
const charge = (change: Partial<CardCharge> = {}, signal = AbortSignal.timeout(5_000)) =>
  adyen.acquirer.charge({ ...CHARGE, ...change }, signal);
const chargeVerified = () => adyen.acquirer.chargeVerified(VERIFIED, AbortSignal.timeout(5_000));
const logged = (): string => JSON.stringify(adyen.logLines);

describe('the request of a charge', () => {
  beforeEach(() => adyen.respondWith(AUTHORISED));

  test('contains the card, manual capture and all data for 3D Secure 2', async () => {
    expect(await charge()).toEqual(APPROVED);
    expect(adyen.onlyBody).toEqual({
      merchantAccount: 'ExampleShop',
      reference: TERMS.paymentReference,
      amount: { value: 12_345, currency: 'ZAR' },
      additionalData: { manualCapture: 'true' },
      channel: 'Web',
      returnUrl: CHARGE.bankReturnUrl,
      origin: 'https://pay.example',
      authenticationData: { threeDSRequestData: { nativeThreeDS: 'disabled' } },
      browserInfo: {
        acceptHeader: 'text/html',
        userAgent: 'Mozilla/5.0',
        language: 'en-ZA',
        screenWidth: 1_280,
        screenHeight: 720,
        colorDepth: 24,
        timeZoneOffset: -120,
        javaEnabled: false,
        javaScriptEnabled: true,
      },
      shopperIP: '192.0.2.1',
      shopperEmail: 'payer@example.com',
      shopperInteraction: 'Ecommerce',
      paymentMethod: {
        type: 'scheme',
        number: '4111111111111111',
        expiryMonth: '03',
        expiryYear: '2030',
        holderName: 'S Hopper',
        cvc: '737',
      },
    });
    const [{ headers, path }] = adyen.requests as [(typeof adyen.requests)[number]];
    expect([path, headers['idempotency-key'], headers['x-api-key']]).toEqual([
      '/payments',
      ATTEMPT_ID,
      SETTINGS.apiKey,
    ]);
  });

  const interactions = [['ContAuth', undefined] as const, ['Ecommerce', { browser: BROWSER }] as const];
  test.each(interactions)('of a stored card is %s, and has its token and its shopper', async (interaction, payer) => {
    await charge({ card: { vaultToken: 'M5N7TQ4TG5PFWR50:0123456789abcdef' }, payer });
    expect(adyen.onlyBody).toMatchObject({
      paymentMethod: { type: 'scheme', storedPaymentMethodId: 'M5N7TQ4TG5PFWR50' },
      shopperReference: '0123456789abcdef',
      shopperInteraction: interaction,
      recurringProcessingModel: 'CardOnFile',
      additionalData: { manualCapture: 'true' },
    });
  });

  test.each(Object.keys(BROWSER).filter((field) => field !== 'javaScriptEnabled'))(
    'has no browserInfo if the browser did not send %s',
    async (field) => {
      await charge({ payer: { browser: { ...BROWSER, [field]: undefined } } });
      expect(adyen.onlyBody).not.toHaveProperty('browserInfo');
      expect(adyen.onlyBody).not.toHaveProperty('shopperIP');
    },
  );

  test('of a partner has neither a page nor a browser', async () => {
    await charge({ payer: undefined, pageOrigin: undefined });
    expect(Object.keys(adyen.onlyBody).sort()).toEqual(
      [
        ...['additionalData', 'amount', 'authenticationData', 'channel', 'merchantAccount', 'paymentMethod'],
        ...['reference', 'returnUrl', 'shopperInteraction'],
      ].sort(),
    );
  });

  test('has the longest origin that Adyen accepts', async () => {
    const pageOrigin = `https://${'a'.repeat(72)}`;
    await charge({ pageOrigin });
    expect(adyen.onlyBody).toMatchObject({ origin: pageOrigin });
  });

  test('has the nearest colour depth that Adyen accepts, and no origin that is too long', async () => {
    await charge({ payer: { browser: { ...BROWSER, colorDepth: 36 } }, pageOrigin: `https://${'a'.repeat(73)}` });
    expect(adyen.onlyBody).toMatchObject({ browserInfo: { colorDepth: 32 } });
    expect(adyen.onlyBody).not.toHaveProperty('origin');
  });

  test('is not sent for a card of another vault, for a mode without settings, or after the signal', async () => {
    for (const vaultToken of ['card-of-another-acquirer', 'a b:cdef', 'abc:de', 'abc:def ', ' abc:def', 'abc:def:ghi'])
      expect(await charge({ card: { vaultToken } })).toEqual({ kind: 'notAttempted', hasResponded: true });
    expect(adyen.logLines[0]).toMatchObject({ level: 'error', fields: { attemptId: ATTEMPT_ID } });
    const account = { mode: 'live', accountReference: 'ExampleShop' } as const;
    expect(await charge({ account })).toEqual({ kind: 'notAttempted' });
    expect(await charge({}, AbortSignal.abort())).toEqual({ kind: 'notAttempted' });
    expect(adyen.logLines.slice(-2)).toMatchObject([
      { fields: { code: 'NO_SETTINGS' } },
      { fields: { code: 'ABORTED' } },
    ]);
    expect(adyen.requests).toEqual([]);
  });
});

const REFUSED = { kind: 'notAttempted', hasResponded: true } as const;
describe('the response to a charge', () => {
  const redirect = (action: object): ScriptedResponse => payment({ resultCode: 'RedirectShopper', action });
  const GOOD_URL = 'https://checkoutshopper-test.adyen.com/checkoutshopper/threeDS/redirect?MD=1';

  test.each<[string, ScriptedResponse, object]>([
    ['Authorised', AUTHORISED, APPROVED],
    [
      'Authorised with the amount',
      payment({ resultCode: 'Authorised', amount: { value: 12_345, currency: 'ZAR' } }),
      APPROVED,
    ],
    ['Error', payment({ resultCode: 'Error', refusalReasonCode: '4' }), { kind: 'declined', reason: 'card.declined' }],
    ['Cancelled', payment({ resultCode: 'Cancelled' }), { kind: 'declined', reason: 'card.declined' }],
    ['Pending', payment({ resultCode: 'Pending' }), { kind: 'unknown' }],
    ['Received', payment({ resultCode: 'Received' }), { kind: 'unknown' }],
    [
      'RedirectShopper',
      redirect({ type: 'redirect', method: 'GET', url: GOOD_URL }),
      { kind: 'verificationRequired', challenge: { reference: ATTEMPT_ID, url: GOOD_URL } },
    ],
  ])('%s has its outcome', async (_, response, outcome) => {
    adyen.respondWith(response);
    expect(await charge()).toMatchObject(outcome);
    expect(adyen.logLines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  test.each(Object.keys(PUBLISHED_REFUSAL_REASONS))('Refused with reason %s has its decline code', async (code) => {
    const refusalReason = PUBLISHED_REFUSAL_REASONS[code];
    adyen.respondWith(payment({ resultCode: 'Refused', refusalReasonCode: code, refusalReason }));
    const { declineCode: reason, isFinal } = REFUSAL_REASONS[code]!;
    expect(await charge()).toMatchObject({ kind: 'declined', reason, acquirerReference: 'JLCMPCQ8HXSKGK82' });
    expect(adyen.logLines).toMatchObject([{ fields: { refusalReasonCode: code, refusalReason, mayRetry: !isFinal } }]);
  });

  test('Refused with the code of the issuer has both codes for operators, with masked numbers', async () => {
    const additionalData = { refusalReasonRaw: '05 : Do not honor 4242424242424242' };
    adyen.respondWith(payment({ resultCode: 'Refused', refusalReasonCode: '2', additionalData }));
    const outcome = (await charge()) as { acquirerCode?: string };
    expect(outcome.acquirerCode).toMatch(/^2 05 : Do not honor /);
    expect(outcome.acquirerCode).not.toContain('4242');
  });

  test.each<[string, ScriptedResponse]>([
    ['a partial authorisation', payment({ resultCode: 'PartiallyAuthorised' })],
    ['a native challenge', payment({ resultCode: 'ChallengeShopper' })],
    ['a native fingerprint', payment({ resultCode: 'IdentifyShopper' })],
    ['an authentication without an authorisation', payment({ resultCode: 'AuthenticationFinished' })],
    ['an unneeded authentication', payment({ resultCode: 'AuthenticationNotRequired' })],
    ['a presentation', payment({ resultCode: 'PresentToShopper' })],
    ['a success without an authorisation', payment({ resultCode: 'Success' })],
    ['an unknown result', payment({ resultCode: 'New' })],
    ['no result', payment({})],
    ['an authorisation without a reference', { body: { resultCode: 'Authorised' } }],
    ['another amount', payment({ resultCode: 'Authorised', amount: { value: 1, currency: 'ZAR' } })],
    ['another currency', payment({ resultCode: 'Authorised', amount: { value: 12_345, currency: 'USD' } })],
    ['another payment', payment({ resultCode: 'Authorised', merchantReference: 'another' })],
    ['a redirect to another host', redirect({ type: 'redirect', url: 'https://adyen.com.example/' })],
    ['a redirect without TLS', redirect({ type: 'redirect', url: 'http://checkoutshopper-test.adyen.com/' })],
    ['a redirect with a user', redirect({ type: 'redirect', url: 'https://a@checkoutshopper-test.adyen.com/' })],
    ['a redirect with a script', redirect({ type: 'redirect', url: 'javascript:alert(1)' })],
    ['a redirect with POST', redirect({ type: 'redirect', method: 'POST', url: GOOD_URL })],
    ['a redirect of another type', redirect({ type: 'qrCode', url: GOOD_URL })],
    ['a long redirect', redirect({ type: 'redirect', url: GOOD_URL + 'x'.repeat(2_048) })],
    ['no redirect', payment({ resultCode: 'RedirectShopper' })],
  ])('with %s is unknown, and an operator sees it', async (_, response) => {
    adyen.respondWith(response);
    expect(await charge()).toEqual({ kind: 'unknown', hasResponded: true });
    expect(adyen.logLines).toMatchObject([{ level: 'error' }]);
  });

  test('may redirect to the host that the operator has configured', async () => {
    adyen.respondWith(redirect({ type: 'redirect', url: 'http://127.0.0.1:1/bank' }));
    expect(await charge()).toMatchObject({ kind: 'verificationRequired' });
  });

  test.each<[string, ScriptedResponse, object]>([
    [
      'an invalid card number',
      errorResponse(422, '101'),
      { kind: 'declined', reason: 'card.invalid', acquirerReference: ATTEMPT_ID },
    ],
    [
      'an invalid CVV',
      errorResponse(422, '103'),
      { kind: 'declined', reason: 'card.incorrect-cvv', acquirerReference: ATTEMPT_ID },
    ],
    ['another invalid field', errorResponse(422, '14_030'), REFUSED],
    ['a wrong merchant account', errorResponse(422, '901', 'configuration'), REFUSED],
    ['a refused permission', errorResponse(422, '010', 'security'), REFUSED],
    ['an internal error', errorResponse(422, '905', 'internal'), { kind: 'unknown' }],
    ['a malformed request', errorResponse(400, '702'), REFUSED],
    ['a wrong API key', errorResponse(401, '000', 'security'), REFUSED],
    ['a missing permission', errorResponse(403, '010', 'security'), REFUSED],
    ['too many requests', errorResponse(429, '29_001'), { kind: 'unknown' }],
    ['an error of Adyen', errorResponse(500, '905', 'internal'), { kind: 'unknown' }],
    ['an error of a proxy', { status: 502, body: '<html>' }, { kind: 'unknown' }],
    ['a body that is no JSON', { body: '<html>' }, { kind: 'unknown' }],
    ['a list', { body: [] }, { kind: 'unknown' }],
    ['no body', {}, { kind: 'unknown' }],
    ['a large body', { body: `{"a":"${'x'.repeat(300_000)}"}` }, { kind: 'unknown' }],
    ['a redirect of HTTP', { status: 302, headers: { location: '/' }, body: {} }, { kind: 'unknown' }],
  ])('with %s has its outcome after one request', async (_, response, outcome) => {
    adyen.respondWith(response);
    expect(await charge()).toEqual(outcome);
    expect(adyen.requests).toHaveLength(1);
  });

  test('is notAttempted if Adyen cannot be reached', async () => {
    const unreachable = adyen.newAcquirer({ test: { ...SETTINGS, checkoutUrl: 'http://127.0.0.1:1/v71' } });
    expect(await unreachable.charge(CHARGE, AbortSignal.timeout(5_000))).toEqual({ kind: 'notAttempted' });
    await unreachable.onApplicationShutdown();
  });
});

describe('a request without a usable response is logged once', () => {
  const expectLogged = (failure: object): void =>
    expect(adyen.logLines).toEqual([
      {
        level: 'error',
        fields: { attemptId: ATTEMPT_ID, paymentReference: TERMS.paymentReference, request: 'payments', ...failure },
        message: 'Adyen sent no usable response',
      },
    ]);

  test.each<[string, ScriptedResponse, object]>([
    ['an error of Adyen', errorResponse(500, '905', 'internal'), { status: 500, code: '905' }],
    ['a code that could be card data', errorResponse(500, '4111111111111111'), { status: 500 }],
    ['too many requests', errorResponse(429, '29_001'), { status: 429, code: '29_001' }],
    ['an error of a proxy', { status: 502, body: '<html>' }, { status: 502, code: 'NOT_JSON' }],
    ['a body that is no JSON', { body: '<html>' }, { status: 200, code: 'NOT_JSON' }],
    ['a large body', { body: `{"a":"${'x'.repeat(300_000)}"}` }, { status: 200, code: 'RESPONSE_TOO_LARGE' }],
    ['broken connections', LOST, { code: 'ECONNRESET' }],
  ])('after %s', async (_, response, failure) => {
    adyen.respondWith(response);
    await charge({}, AbortSignal.timeout(60_000));
    expectLogged(failure);
  });

  test('if Adyen does not respond in time', async () => {
    adyen.respondWith(SILENT);
    const account = { mode: 'test', accountReference: 'ExampleShop' } as const;
    await adyen.acquirer.deleteCard({ vaultToken: 'abc:def', vaultAccount: account.accountReference }, account.mode);
    expect(adyen.logLines).toMatchObject([{ fields: { request: 'deleteCard', code: 'REQUEST_TIMEOUT' } }]);
  });

  test('if Adyen cannot be reached', async () => {
    const unreachable = adyen.newAcquirer({ test: { ...SETTINGS, checkoutUrl: 'http://127.0.0.1:1/v71' } });
    await unreachable.charge(CHARGE, AbortSignal.timeout(5_000));
    expectLogged({ code: 'ECONNREFUSED' });
    await unreachable.onApplicationShutdown();
  });
});

describe('a lost response', () => {
  const HALF: ScriptedResponse = (response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('{"resultCode":', () => response.socket?.destroy());
  };

  test.each<[string, ScriptedResponse]>([
    ['a broken connection', LOST],
    ['half a body', HALF],
    ['no response in time', SILENT],
    ['a request in progress', IN_PROGRESS],
    ['a request in progress with status 409', { ...IN_PROGRESS, status: 409 }],
    ['a transient error', TRANSIENT],
  ])('after %s is requested again under the same key', async (_, response) => {
    adyen.respondWith(response, AUTHORISED);
    expect(await charge()).toEqual(APPROVED);
    const [first, second] = adyen.requests;
    expect(adyen.requests).toHaveLength(2);
    expect(second).toEqual({ ...first, headers: { ...first!.headers } });
    expect(second!.headers['idempotency-key']).toBe(ATTEMPT_ID);
  });

  test('is requested again until the signal, and the outcome is then unknown', async () => {
    const controller = new AbortController();
    adyen.respondWith(IN_PROGRESS, LOST, (_response, request) => {
      controller.abort();
      request.socket.destroy();
    });
    expect(await charge({}, controller.signal)).toEqual({ kind: 'unknown' });
    expect(adyen.requests).toHaveLength(3);
  });

  test('is requested a limited number of times', async () => {
    adyen.respondWith(LOST);
    expect(await charge({}, AbortSignal.timeout(60_000))).toEqual({ kind: 'unknown' });
    expect(adyen.requests).toHaveLength(10);
  });

  test.each([
    ...[400, 401, 403, 404].map((status) => [status, 'security'] as const),
    ...['security', 'configuration'].map((errorType) => [422, errorType] as const),
  ])('followed by status %d and a %s error stays unknown, although Adyen responds', async (status, errorType) => {
    adyen.respondWith(LOST, errorResponse(status, '000', errorType));
    expect(await charge()).toEqual({ kind: 'unknown', hasResponded: true });
  });

  test('followed by a validation error has the outcome of the error, which is the first response', async () => {
    adyen.respondWith(LOST, errorResponse(422, '101'));
    expect(await charge()).toMatchObject({ kind: 'declined', reason: 'card.invalid' });
  });

  test('followed by a refused connection stays unknown', async () => {
    const stopping = await ScriptedAdyen.start();
    stopping.respondWith((_response, request) => {
      stopping.stopListening();
      request.socket.destroy();
    });
    expect(await stopping.acquirer.charge(CHARGE, AbortSignal.timeout(60_000))).toEqual({ kind: 'unknown' });
    expect(stopping.requests).toHaveLength(1);
    await stopping.stop();
  });

  test('ends at once when the signal is aborted during a call', async () => {
    const controller = new AbortController();
    adyen.respondWith(() => controller.abort());
    expect(await charge({}, controller.signal)).toEqual({ kind: 'unknown' });
    expect(adyen.requests).toHaveLength(1);
  });
});

test('no line of the log contains card data, whatever Adyen responds', async () => {
  const additionalData = { cardSummary: '1111', expiryDate: '3/2030', refusalReasonRaw: '05 : 4111111111111111' };
  const responses: ScriptedResponse[] = [
    payment({ resultCode: 'Refused', refusalReason: 'Card 4111 1111 1111 1111 refused', additionalData }),
    payment({ resultCode: 'Authorised', merchantReference: '4111111111111111', refusalReason: '1234:1111:3/2030' }),
    ...[400, 401, 422].map((status) => errorResponse(status, '4111 1111 1111 1111')),
    payment({ resultCode: '4111111111111111 737' }),
  ];
  for (const response of responses) {
    adyen.respondWith(response);
    await charge();
    await chargeVerified();
  }
  await charge({ card: { vaultToken: 'unusable token' } });
  expect(adyen.logLines.length).toBeGreaterThan(responses.length);
  expect(logged()).not.toMatch(/4111|737|S Hopper|3\/2030|payer@example|192\.0\.2\.1|X6XtfGC3/);
});
