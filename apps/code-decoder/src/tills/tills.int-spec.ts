import { FindTillInvoiceV1, type Mode, TillCodeCreatedV1 } from '@svc/contracts';
import { newOwnCode } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import { type Decoder, type Merchant, startDecoder } from '../../test/decoder.js';

let decoder: Decoder;
let merchant: Merchant;
beforeAll(async () => {
  decoder = await startDecoder();
});
beforeEach(async () => {
  merchant = await decoder.createMerchant();
});
afterAll(() => decoder.stop());

const callTillCode = (method: 'GET' | 'PUT', till: string, headers: Record<string, string> = {}) =>
  decoder.call(method, `${merchant.path}/tills/${encodeURIComponent(till)}/code`, {
    headers: { ...merchant.headers, ...headers },
  });

test('repeated and concurrent requests for a till get one code, which is published once', async () => {
  expect((await callTillCode('GET', 'Till 1/é')).status).toBe(404);
  const responses = await Promise.all(Array.from({ length: 10 }, () => callTillCode('PUT', 'Till 1/é')));
  expect(responses.map(({ status }) => status).toSorted()).toEqual([...Array<number>(9).fill(200), 201]);
  expect(new Set(responses.map(({ body }) => body.code as string)).size).toBe(1);
  expect(responses[0]!.body).toEqual({
    siteReference: 'Till 1/é',
    code: expect.stringMatching(/^https:\/\/pay\.svc\.example\/c\/\d{20}$/),
  });
  expect((await callTillCode('GET', 'Till 1/é')).body).toEqual(responses[0]!.body);

  const code = (responses[0]!.body.code as string).slice(-20);
  const { merchantId, siteId } = merchant;
  const events = (await decoder.published(TillCodeCreatedV1)).filter(({ payload }) => payload.siteId === siteId);
  expect(events.map(({ aggregateId, payload }) => [aggregateId, payload])).toEqual([
    [code, { code, mode: 'test', merchantId, siteId, siteReference: 'Till 1/é' }],
  ]);
});

test('each till, each site and each mode has a different code', async () => {
  const first = (await callTillCode('PUT', 'T')).body.code as string;
  const second = (await callTillCode('PUT', 'U')).body.code as string;
  merchant = await decoder.createMerchant({ merchantId: merchant.merchantId });
  const otherSite = (await callTillCode('PUT', 'T')).body.code as string;
  merchant = {
    ...merchant,
    headers: {
      'x-api-key': (await decoder.createMerchant({ mode: 'live', merchantId: merchant.merchantId })).merchantKey,
    },
  };
  const live = (await callTillCode('PUT', 'T')).body.code as string;
  expect(new Set([first, second, otherSite, live]).size).toBe(4);
});

test('a code can be requested as text or QR code, and another media type causes a 406 and creates no code', async () => {
  const { body } = await callTillCode('PUT', 'T');
  expect((await callTillCode('GET', 'T', { accept: 'text/plain' })).text).toBe(body.code);
  expect((await callTillCode('PUT', 'T', { accept: 'image/svg+xml' })).text).toMatch(/^<svg /);
  expect((await callTillCode('PUT', 'V', { accept: 'image/png' })).status).toBe(406);
  expect((await callTillCode('GET', 'V')).status).toBe(404);
});

test('an invalid siteReference causes a 400, and an invalid key causes a 401', async () => {
  for (const till of [' ', 'x'.repeat(101), 'a\nb'])
    expect(await callTillCode('PUT', till)).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'siteReference' }] },
    });
  expect((await callTillCode('PUT', 'T', { 'x-api-key': 'x' })).status).toBe(401);
});

test('the command FindTillInvoice returns the newest open invoice of the till, in the mode of its code', async () => {
  const code = ((await callTillCode('PUT', 'TILL-7')).body.code as string).slice(-20);
  const findInvoice = async (tillCode = code, mode: Mode = 'test') => {
    const commands = decoder.service.app.get(Commands);
    return (await commands.request(FindTillInvoiceV1, { mode, code: tillCode })).invoiceReference;
  };
  expect(await findInvoice()).toBeUndefined();
  const older = await decoder.createInvoice(merchant, { siteReference: 'TILL-7' });
  await decoder.createInvoice(merchant, { siteReference: 'TILL-8' });
  expect(await findInvoice()).toBe(older.reference);
  decoder.clock.advance(1_000);
  const newer = await decoder.createInvoice(merchant, { siteReference: 'TILL-7' });
  expect(await findInvoice()).toBe(newer.reference);
  expect([await findInvoice(code, 'live'), await findInvoice(newOwnCode())]).toEqual([undefined, undefined]);
  await decoder.publishPayable(decoder.payables.set(newer.reference, 'paid'));
  expect(await findInvoice()).toBe(older.reference);
});

test('the command FindTillInvoice without a mode returns only an invoice in the mode of the till code', async () => {
  const live = await decoder.createMerchant({ mode: 'live', merchantId: merchant.merchantId, siteId: merchant.siteId });
  const codes = new Map<Merchant, string>();
  for (const owner of [merchant, live]) {
    const response = await decoder.call('PUT', `${owner.path}/tills/TILL-9/code`, { headers: owner.headers });
    codes.set(owner, (response.body.code as string).slice(-20));
  }
  const findInvoice = async (owner: Merchant) =>
    (await decoder.service.app.get(Commands).request(FindTillInvoiceV1, { code: codes.get(owner)! })).invoiceReference;
  const invoice = await decoder.createInvoice(merchant, { siteReference: 'TILL-9' });
  expect([await findInvoice(merchant), await findInvoice(live)]).toEqual([invoice.reference, undefined]);
  const liveInvoice = await decoder.createInvoice(live, { siteReference: 'TILL-9' });
  expect([await findInvoice(merchant), await findInvoice(live)]).toEqual([invoice.reference, liveInvoice.reference]);
});
