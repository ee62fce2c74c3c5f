import { randomUUID } from 'node:crypto';
import { ClosePayableV1, type PayableDescriptor } from '@svc/contracts';
import { aSessionRequest, type Gateway, type Merchant, startGateway } from '../../test/gateway.js';
import { type Stranger, STRANGERS, strangersTo } from '../../test/merchants.js';

let gateway: Gateway;
let owner: Merchant;
let strangers: Readonly<Record<Stranger, Merchant>>;
let closed: string[];
beforeAll(async () => {
  gateway = await startGateway();
  owner = await gateway.aMerchant();
  strangers = await strangersTo(owner, (site) => gateway.aMerchant(site));
  await gateway.broker.respond(ClosePayableV1.name, (command) => {
    const { payableId } = (command as { payable: PayableDescriptor }).payable;
    closed.push(payableId);
    return Promise.resolve({ ok: true, reply: { payableId, state: 'closed', version: 2, tries: 0 } });
  });
});
beforeEach(() => {
  closed = [];
});
afterAll(() => gateway.stop());

const cancel = (sessionId: string, headers: Record<string, string>, version = 'v3.1') =>
  gateway.call('DELETE', `/api/${version}/sessions/${sessionId}`, { headers });
const stateOf = async (sessionId: string): Promise<unknown> =>
  (await gateway.call('GET', `/pay/${sessionId}/state`)).body.state;

describe('cancelling', () => {
  test.each(STRANGERS)('%s does not find the session', async (stranger) => {
    const sessionId = await gateway.createSession(owner);
    const { siteKey, merchantKey, headers } = strangers[stranger];
    for (const key of [siteKey, merchantKey]) {
      const { status, body } = await cancel(sessionId, { ...headers, 'x-api-key': key });
      expect([status, body.status]).toEqual([404, 'NotFound']);
    }
    expect([closed, await stateOf(sessionId)]).toEqual([[], 'open']);
    const own = await gateway.createSession(strangers[stranger]);
    expect((await cancel(own, headers)).status).toBe(200);
    expect([closed, await stateOf(own), await stateOf(sessionId)]).toEqual([[own], 'cancelled', 'open']);
  });

  test.each(['v3', 'v3.1'])('the key of the site and the one of its merchant cancel in %s', async (version) => {
    for (const key of [owner.siteKey, owner.merchantKey]) {
      const sessionId = await gateway.createSession(owner);
      expect((await cancel(sessionId, { ...owner.headers, 'x-api-key': key }, version)).status).toBe(200);
      expect(closed).toContain(sessionId);
    }
  });

  test('a site that needs no key for other calls needs one to cancel', async () => {
    const keyless = await gateway.aMerchant({ requireApiKey: false, allowedHosts: ['shop.example'] });
    const { 'x-api-key': _, ...headers } = keyless.headers;
    const sessionId = await gateway.createSession({ ...keyless, headers });
    expect((await cancel(sessionId, headers)).status).toBe(401);
    expect([closed, await stateOf(sessionId)]).toEqual([[], 'open']);
  });
});

describe('the same requestId', () => {
  const create = (requestId: string, merchant: Merchant, merchantOrderId: string, version = 'v3.1') =>
    gateway.call('POST', `/api/${version}/sessions`, {
      headers: merchant.headers,
      payload: aSessionRequest({ requestId, merchantOrderId }),
    });

  test('is a separate session at each site, in each mode and in each version, also when repeated', async () => {
    const requestId = randomUUID();
    const { 'another merchant whose site has the same number': _, ...others } = strangers;
    const callers = [owner, ...Object.values(others)].flatMap((merchant, nth) =>
      ['v3', 'v3.1'].map((version) => [merchant, `order-${nth}-${version}`, version] as const),
    );
    const made = new Map<string, string>();
    for (const caller of callers) made.set(caller[1], (await create(requestId, ...caller)).body.sessionId as string);
    expect(new Set(made.values()).size).toBe(callers.length);
    for (const caller of callers) {
      const { status, headers, body } = await create(requestId, ...caller);
      expect([status, headers['idempotency-replayed'], body.sessionId]).toEqual([201, 'true', made.get(caller[1])]);
    }
  });

  // Site numbers are unique. If two sites had the same one, a response must not contain the other merchant's session.
  test('never gives the session of another merchant', async () => {
    const requestId = randomUUID();
    const mine = await create(requestId, owner, 'order-17');
    const twin = strangers['another merchant whose site has the same number'];
    const { status, body } = await create(requestId, twin, 'order-17');
    expect([mine.status, status, body.sessionId]).toEqual([201, 409, undefined]);
  });
});
