import { compactDecrypt, exportJWK, generateKeyPair } from 'jose';
import { HttpExchange } from '../http-exchange.js';
import { type Login, PartnerSession, type PayRequest, type ServicePayRequest } from './partner-session.js';

const CARD = { cardNumber: '4242424242424242', cvv: '123', holderName: 'T Payer', expiryMonth: 12, expiryYear: 2030 };
const START = Date.parse('2026-11-20T18:00:00.000Z');
const PAYMENT = {
  reference: 'r-1',
  paymentReference: '1VQ5K3P0ABCDEFGHJK',
  merchantName: 'Karoo Books',
  currencyISOCode: 'ZAR',
  invoicedAmount: 1,
  tipAmount: 0,
  processedAmount: 1,
  paymentUTCDate: '2026-11-20T18:03:36.123Z',
  paymentMethodType: 'Card',
  paymentMethodDescription: '**** 4242',
  status: 'success',
  customer: { id: 'c-1', firstName: '', lastName: '' },
  siteReference: 'TILL-1',
};

interface SentRequest {
  readonly route: string;
  readonly headers: Record<string, string>;
  readonly body: Record<string, unknown> | undefined;
}

let sentRequests: SentRequest[];
let time: number;
let publicJwk: object;
let privateKey: CryptoKey;
let responses: Record<string, () => Response | Promise<Response>>;
let logIn: jest.Mock<Promise<Login>, []>;
let session: PartnerSession;

beforeAll(async () => {
  const pair = await generateKeyPair('ECDH-ES', { crv: 'P-256', extractable: true });
  privateKey = pair.privateKey;
  publicJwk = { ...(await exportJWK(pair.publicKey)), kid: 'key-1' };
});
beforeEach(() => {
  [sentRequests, time] = [[], START];
  responses = {
    'GET /v1/cards/encryption-key': () => Response.json(publicJwk),
    'POST /v1/payments': () => Response.json(PAYMENT),
    'DELETE /v1/cards/c': () => new Response(null, { status: 204 }),
  };
  logIn = jest.fn(() => Promise.resolve(createLogin(`token-${logIn.mock.calls.length}`)));
  session = new PartnerSession(createHttp(), 'https://api.example', 'key', logIn);
});

const createLogin = (identityToken: string, expiresIn = 900): Login => ({ identityToken, expiresIn, owner: 'owner-1' });

function createHttp(): HttpExchange {
  const fetch = async (url: unknown, init: RequestInit = {}): Promise<Response> => {
    const { pathname, search } = new URL(url as string);
    const body = typeof init.body === 'string' ? (JSON.parse(init.body) as Record<string, unknown>) : undefined;
    const route = `${init.method} ${pathname}`;
    sentRequests.push({ route: route + search, headers: init.headers as Record<string, string>, body });
    const response = await ((responses[route + search] ?? responses[route])?.() ?? new Response(null, { status: 404 }));
    response.headers.set('date', new Date(time).toUTCString());
    return response;
  };
  return new HttpExchange({ fetch: fetch, wait: async () => undefined, monotonicNow: () => time });
}

const sentPayments = () => sentRequests.filter(({ route }) => route === 'POST /v1/payments').map(({ body }) => body);
const decryptCard = async (jwe: unknown): Promise<unknown> =>
  JSON.parse(new TextDecoder().decode((await compactDecrypt(jwe as string, privateKey)).plaintext));

describe('pay', () => {
  it.each<[string, PayRequest & Partial<ServicePayRequest>, object]>([
    ['a stored card', { amount: 1, cardToken: 't' }, { paymentMethod: { card: { token: 't' } } }],
    [
      'a stored card, which has precedence over card data',
      { amount: 1, cardToken: 't', card: CARD },
      { paymentMethod: { card: { token: 't' } } },
    ],
    [
      'an external payment',
      { amount: 1, external: { type: 'EFT', status: 'success', reference: 'x' } },
      { paymentMethod: { external: { type: 'EFT', status: 'success', reference: 'x' } } },
    ],
    [
      'vouchers alone',
      { amount: 1, vouchers: [{ merchantLiable: true, amount: 1 }] },
      { vouchers: [{ merchantLiable: true, amount: 1 }] },
    ],
    [
      'a code',
      { amount: 1, code: 'köd', cardToken: 't' },
      { code: 'a8O2ZA==', paymentMethod: { card: { token: 't' } } },
    ],
    [
      'an invoice',
      { amount: 1, invoiceReference: 'i', tipAmount: 2, orderReference: 'o' },
      { invoiceReference: 'i', tipAmount: 2, orderReference: 'o' },
    ],
  ])('sends exactly the documented body for %s', async (_, request, expected) => {
    await session.pay({ ...request, reference: 'r-1' });
    expect(sentPayments()).toEqual([{ reference: 'r-1', amount: 1, ...expected }]);
  });

  it('sends the key, the token and the content type', async () => {
    await session.pay({ amount: 1, cardToken: 't' });
    await session.deleteCard('c');
    const headers = { accept: 'application/json', 'x-api-key': 'key', authorization: 'Bearer token-1' };
    expect(sentRequests.map((request) => request.headers)).toEqual([
      { ...headers, 'content-type': 'application/json' },
      headers,
    ]);
    expect(sentRequests[1]!.body).toBeUndefined();
  });
});

describe('an encrypted card', () => {
  it('is bound to its owner and payment, and valid for ten minutes', async () => {
    await session.pay({ reference: 'r-1', amount: 1, card: CARD });
    const [body] = sentPayments() as [{ paymentMethod: { card: { encryptedCard: string } } }];
    expect(await decryptCard(body.paymentMethod.card.encryptedCard)).toEqual({
      card: CARD,
      binding: { sessionId: 'owner-1.r-1', paymentNumber: 1, expiresAt: '2026-11-20T18:10:00.000Z' },
    });
  });

  it('is encrypted with a key that is cached for up to a minute', async () => {
    const countKeyRequests = () => sentRequests.filter(({ route }) => route === 'GET /v1/cards/encryption-key').length;
    const pay = () => session.pay({ amount: 1, card: CARD });
    await pay();
    time += 59_999;
    await pay();
    expect(countKeyRequests()).toBe(1);
    time += 1;
    await pay();
    expect(countKeyRequests()).toBe(2);
  });

  it('is not created if the encryption key has no valid id', async () => {
    responses['GET /v1/cards/encryption-key'] = () => Response.json({ ...publicJwk, kid: 7 });
    await expect(session.pay({ amount: 1, card: CARD })).rejects.toThrow('kid is missing or malformed');
    expect(sentPayments()).toEqual([]);
  });
});

describe('a session', () => {
  it('decodes a code, and refuses a response without merchant or invoice', async () => {
    // The path contains the code ???>>>ÿ as base64url, which has - and _ instead of + and /.
    const decoded = { merchant: { merchantName: 'Karoo Books' }, invoice: { amount: 1 } };
    responses['GET /v1/codes/Pz8_Pj4-w78'] = () => Response.json({ ...decoded, more: 1 });
    expect(await session.decode('???>>>ÿ')).toEqual(decoded);
    responses['GET /v1/codes/Pz8_Pj4-w78'] = () => Response.json({ ...decoded, merchant: null });
    await expect(session.decode('???>>>ÿ')).rejects.toThrow('merchant is missing');
    responses['GET /v1/codes/Pz8_Pj4-w78'] = () => Response.json({ ...decoded, invoice: 7 });
    await expect(session.decode('???>>>ÿ')).rejects.toThrow('invoice is missing');
  });

  it.each([
    [undefined, '?page=1'],
    [{ pageSize: 2 }, '?page=1&pageSize=2'],
    [{ customerReference: 'c&1' }, '?page=1&customerReference=c%261'],
  ])('requests the history for the query %j with the parameters %s', async (query, search) => {
    responses['GET /v1/payments'] = () => new Response(null, { status: 204 });
    expect(await session.history(query).next()).toEqual({ done: true, value: undefined });
    expect(sentRequests.map(({ route }) => route)).toEqual([`GET /v1/payments${search}`]);
  });

  it.each([
    [{}, 'payments'],
    [{ payments: PAYMENT }, 'payments'],
    [{ payments: [], nextPage: null }, 'nextPage'],
    [{ payments: [], nextPage: '/v1/cards?page=2' }, 'nextPage'],
    [{ payments: [], nextPage: 'https://evil.example/v1/payments?page=2' }, 'nextPage'],
  ])('refuses the malformed history page %j', async (page, field) => {
    responses['GET /v1/payments'] = () => Response.json(page);
    await expect(session.history().next()).rejects.toThrow(`${field} is missing or malformed`);
  });

  it('encodes the token of a stored card in the path', async () => {
    await expect(session.deleteCard('../a?b')).rejects.toMatchObject({ httpStatus: 404 });
    expect(sentRequests.at(-1)!.route).toBe('DELETE /v1/cards/..%2Fa%3Fb');
  });
});

describe('the identity token', () => {
  const authorizations = () => sentRequests.map(({ headers }) => headers['authorization']);

  it('is renewed a minute before it expires', async () => {
    await session.deleteCard('c');
    time += 839_999;
    await session.deleteCard('c');
    time += 1;
    await session.deleteCard('c');
    expect(authorizations()).toEqual(['Bearer token-1', 'Bearer token-1', 'Bearer token-2']);
  });

  it('is used only once if it is valid for less than a minute', async () => {
    logIn.mockImplementation(() => Promise.resolve(createLogin('short', 30)));
    await session.deleteCard('c');
    await session.deleteCard('c');
    expect(logIn).toHaveBeenCalledTimes(2);
  });

  it('is not replaced by the token of an older, slow login', async () => {
    const slow = await startSlowLogin();
    slow.resolve(createLogin('slow'));
    await slow.call;
    await session.deleteCard('c');
    expect(authorizations().at(-1)).toBe('Bearer newer');
  });

  it('remains in use if an older, slow login fails', async () => {
    const slow = await startSlowLogin();
    slow.reject(new Error('no response'));
    await expect(slow.call).rejects.toThrow('no response');
    await session.deleteCard('c');
    expect(authorizations().at(-1)).toBe('Bearer newer');
    expect(logIn).toHaveBeenCalledTimes(3);
  });

  /**
   * Starts a call that waits for a slow login. Meanwhile an earlier call gets a 401, and its new login completes first.
   */
  async function startSlowLogin() {
    const [earlyResponse, slowLogin] = [Promise.withResolvers<Response>(), Promise.withResolvers<Login>()];
    responses['DELETE /v1/cards/early'] = () => earlyResponse.promise;
    const early = session.deleteCard('early');
    // Lets pending promises settle until the first call has sent its request.
    for (let turn = 0; turn < 100 && sentRequests.length === 0; turn++) await Promise.resolve();
    time += 900_000;
    logIn.mockImplementationOnce(() => slowLogin.promise);
    const call = session.deleteCard('c');
    logIn.mockImplementationOnce(() => Promise.resolve(createLogin('newer')));
    responses['DELETE /v1/cards/early'] = () => new Response(null, { status: 204 });
    earlyResponse.resolve(new Response(null, { status: 401 }));
    await early;
    return { call, resolve: slowLogin.resolve, reject: slowLogin.reject };
  }
});
