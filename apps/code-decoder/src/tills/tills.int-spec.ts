import { FindTillInvoiceV1, type Mode, TillCodeMadeV1 } from '@svc/contracts';
import { newOwnCode } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import { type Decoder, type Merchant, startDecoder } from '../../test/decoder.js';

let decoder: Decoder;
let merchant: Merchant;
beforeAll(async () => {
  decoder = await startDecoder();
});
beforeEach(async () => {
  merchant = await decoder.aMerchant();
});
afterAll(() => decoder.stop());

const call = (method: 'GET' | 'PUT', till: string, headers: Record<string, string> = {}) =>
  decoder.call(method, `${merchant.path}/tills/${encodeURIComponent(till)}/code`, {
    headers: { ...merchant.headers, ...headers },
  });

test('a till has one permanent code, also with repeated and concurrent requests', async () => {
  expect((await call('GET', 'Till 1/é')).status).toBe(404);
  const answers = await Promise.all(Array.from({ length: 10 }, () => call('PUT', 'Till 1/é')));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([...Array<number>(9).fill(200), 201]);
  expect(new Set(answers.map(({ body }) => body.code as string)).size).toBe(1);
  expect(answers[0]!.body).toEqual({
    siteReference: 'Till 1/é',
    code: expect.stringMatching(/^https:\/\/pay\.svc\.example\/c\/\d{20}$/),
  });
  expect((await call('GET', 'Till 1/é')).body).toEqual(answers[0]!.body);

  const code = (answers[0]!.body.code as string).slice(-20);
  const { merchantId, siteId } = merchant;
  const told = (await decoder.published(TillCodeMadeV1)).filter(({ payload }) => payload.siteId === siteId);
  expect(told.map(({ aggregateId, payload }) => [aggregateId, payload])).toEqual([
    [code, { code, mode: 'test', merchantId, siteId, siteReference: 'Till 1/é' }],
  ]);
});

test('two tills, two sites and two modes have different codes', async () => {
  const first = (await call('PUT', 'T')).body.code as string;
  const second = (await call('PUT', 'U')).body.code as string;
  merchant = await decoder.aMerchant({ merchantId: merchant.merchantId });
  const elsewhere = (await call('PUT', 'T')).body.code as string;
  merchant = {
    ...merchant,
    headers: { 'x-api-key': (await decoder.aMerchant({ mode: 'live', merchantId: merchant.merchantId })).merchantKey },
  };
  const live = (await call('PUT', 'T')).body.code as string;
  expect(new Set([first, second, elsewhere, live]).size).toBe(4);
});

test('the code is also available as text and as a QR code', async () => {
  const { body } = await call('PUT', 'T');
  expect((await call('GET', 'T', { accept: 'text/plain' })).text).toBe(body.code);
  expect((await call('PUT', 'T', { accept: 'image/svg+xml' })).text).toMatch(/^<svg /);
  expect((await call('PUT', 'V', { accept: 'image/png' })).status).toBe(406);
  expect((await call('GET', 'V')).status).toBe(404);
});

test('an invalid siteReference is rejected', async () => {
  for (const till of [' ', 'x'.repeat(101), 'a\nb'])
    expect(await call('PUT', till)).toMatchObject({ status: 400, body: { errors: [{ field: 'siteReference' }] } });
  expect((await call('PUT', 'T', { 'x-api-key': 'x' })).status).toBe(401);
});

test('FindTillInvoice returns the newest open invoice of the till, in the mode of its code', async () => {
  const code = ((await call('PUT', 'TILL-7')).body.code as string).slice(-20);
  const invoiceAt = async (asked = code, mode: Mode = 'test') => {
    const commands = decoder.service.app.get(Commands);
    return (await commands.request(FindTillInvoiceV1, { mode, code: asked })).invoiceReference;
  };
  expect(await invoiceAt()).toBeUndefined();
  const older = await decoder.createInvoice(merchant, { siteReference: 'TILL-7' });
  await decoder.createInvoice(merchant, { siteReference: 'TILL-8' });
  expect(await invoiceAt()).toBe(older.reference);
  decoder.clock.advance(1_000);
  const newer = await decoder.createInvoice(merchant, { siteReference: 'TILL-7' });
  expect(await invoiceAt()).toBe(newer.reference);
  expect([await invoiceAt(code, 'live'), await invoiceAt(newOwnCode())]).toEqual([undefined, undefined]);
  await decoder.publishPayable(decoder.payables.set(newer.reference, 'paid'));
  expect(await invoiceAt()).toBe(older.reference);
});

test('a query without a mode uses the mode of the till, and finds no invoice of the other mode', async () => {
  const live = await decoder.aMerchant({ mode: 'live', merchantId: merchant.merchantId, siteId: merchant.siteId });
  const codes = new Map<Merchant, string>();
  for (const each of [merchant, live]) {
    const answer = await decoder.call('PUT', `${each.path}/tills/TILL-9/code`, { headers: each.headers });
    codes.set(each, (answer.body.code as string).slice(-20));
  }
  const invoiceAt = async (owner: Merchant) =>
    (await decoder.service.app.get(Commands).request(FindTillInvoiceV1, { code: codes.get(owner)! })).invoiceReference;
  const invoice = await decoder.createInvoice(merchant, { siteReference: 'TILL-9' });
  expect([await invoiceAt(merchant), await invoiceAt(live)]).toEqual([invoice.reference, undefined]);
  const liveInvoice = await decoder.createInvoice(live, { siteReference: 'TILL-9' });
  expect([await invoiceAt(merchant), await invoiceAt(live)]).toEqual([invoice.reference, liveInvoice.reference]);
});
