import { randomUUID } from 'node:crypto';
import { ClosePayableV1, type HostedPayableDescriptor } from '@svc/contracts';
import { buildSessionRequest, type Gateway, type Merchant, startGateway } from '../../test/gateway.js';
import { createOtherCallers, OTHER_CALLERS, type OtherCaller } from '../../test/merchants.js';

let gateway: Gateway;
let owner: Merchant;
let otherCallers: Readonly<Record<OtherCaller, Merchant>>;
let closedIds: string[];
beforeAll(async () => {
  gateway = await startGateway();
  owner = await gateway.createMerchant();
  otherCallers = await createOtherCallers(owner, (site) => gateway.createMerchant(site));
  await gateway.broker.respond(ClosePayableV1.name, (command) => {
    const { payableId } = (command as { payable: HostedPayableDescriptor }).payable;
    closedIds.push(payableId);
    return Promise.resolve({ ok: true, reply: { payableId, state: 'closed', version: 2, paymentCount: 0 } });
  });
});
beforeEach(() => {
  closedIds = [];
});
afterAll(() => gateway.stop());

const cancel = (sessionId: string, headers: Record<string, string>, version = 'v3.1') =>
  gateway.call('DELETE', `/api/${version}/sessions/${sessionId}`, { headers });
const readState = async (sessionId: string): Promise<unknown> =>
  (await gateway.call('GET', `/pay/${sessionId}/state`)).body.state;

describe('permission to cancel a session:', () => {
  test.each(OTHER_CALLERS)('%s cannot cancel a session that it does not own', async (caller) => {
    const sessionId = await gateway.createSession(owner);
    const { siteKey, merchantKey, headers } = otherCallers[caller];
    for (const key of [siteKey, merchantKey]) {
      const { status, body } = await cancel(sessionId, { ...headers, 'x-api-key': key });
      expect([status, body.status]).toEqual([404, 'NotFound']);
    }
    expect([closedIds, await readState(sessionId)]).toEqual([[], 'open']);
    const callersSessionId = await gateway.createSession(otherCallers[caller]);
    expect((await cancel(callersSessionId, headers)).status).toBe(200);
    expect([closedIds, await readState(callersSessionId), await readState(sessionId)]).toEqual([
      [callersSessionId],
      'cancelled',
      'open',
    ]);
  });

  test.each(['v3', 'v3.1'])(
    'the key of the site and the key of the merchant can cancel the session in API %s',
    async (version) => {
      for (const key of [owner.siteKey, owner.merchantKey]) {
        const sessionId = await gateway.createSession(owner);
        expect((await cancel(sessionId, { ...owner.headers, 'x-api-key': key }, version)).status).toBe(200);
        expect(closedIds).toContain(sessionId);
      }
    },
  );

  test('a site that needs no API key for other calls needs one to cancel a session', async () => {
    const keyless = await gateway.createMerchant({ requireApiKey: false, allowedHosts: ['shop.example'] });
    const { 'x-api-key': _, ...headers } = keyless.headers;
    const sessionId = await gateway.createSession({ ...keyless, headers });
    expect((await cancel(sessionId, headers)).status).toBe(401);
    expect([closedIds, await readState(sessionId)]).toEqual([[], 'open']);
  });
});

describe('a requestId', () => {
  const create = (requestId: string, merchant: Merchant, merchantOrderId: string, version = 'v3.1') =>
    gateway.call('POST', `/api/${version}/sessions`, {
      headers: merchant.headers,
      payload: buildSessionRequest({ requestId, merchantOrderId }),
    });

  test('creates a separate session for each site, mode and API version, and a retry returns the same session', async () => {
    const requestId = randomUUID();
    const { 'another merchant whose site has the same siteId': _, ...others } = otherCallers;
    const requests = [owner, ...Object.values(others)].flatMap((merchant, index) =>
      ['v3', 'v3.1'].map((version) => ({ merchant, orderId: `order-${index}-${version}`, version })),
    );
    const sessionIds = new Map<string, string>();
    for (const { merchant, orderId, version } of requests) {
      const { body } = await create(requestId, merchant, orderId, version);
      sessionIds.set(orderId, body.sessionId as string);
    }
    expect(new Set(sessionIds.values()).size).toBe(requests.length);
    for (const { merchant, orderId, version } of requests) {
      const { status, headers, body } = await create(requestId, merchant, orderId, version);
      expect([status, headers['idempotency-replayed'], body.sessionId]).toEqual([201, 'true', sessionIds.get(orderId)]);
    }
  });

  // A siteId is unique. But even if two merchants had a site with the same siteId, neither merchant may get the session
  // of the other merchant.
  test('never returns the session of another merchant', async () => {
    const requestId = randomUUID();
    const ownersResponse = await create(requestId, owner, 'order-17');
    const otherMerchant = otherCallers['another merchant whose site has the same siteId'];
    const { status, body } = await create(requestId, otherMerchant, 'order-17');
    expect([ownersResponse.status, status, body.sessionId]).toEqual([201, 409, undefined]);
  });
});
