/**
 * A basket of a till is paid only by a payment of its own invoice, whatever numbers web orders and earlier baskets have
 * (T5), and only for the lines that the till shows (T3). The transformer and the platform are the real programs, with a
 * line that fails between them.
 */
import { randomInt, randomUUID } from 'node:crypto';
import { PartnerClient } from '@svc/sdk';
import { findFreePort, PATIENCE, waitUntil } from '@svc/testing';
import { gatewayClient, newSessionRequest } from './callers/merchant.js';
import { APPROVED_CARD, preparePayRequest, sendPayRequest } from './callers/payer.js';
import { callTillApi, newInvoiceRequest } from './callers/till.js';
import type { MerchantSite, Platform } from './platform/platform.js';
import { sharedPlatform } from './platform/shared-platform.js';
import { NetworkLine, StoreComputer, type TillAnswer } from './stores/store-computer.js';

const AMOUNT = 4_500;
const TIMEOUT_MS = 60_000 * PATIENCE;

let platform: Platform;
let site: MerchantSite;
let line: NetworkLine;
let computer: StoreComputer;
let partner: PartnerClient;
/** Each test has an order number and a till of its own. */
let reference: string;
let till: string;
beforeAll(async () => {
  platform = await sharedPlatform('embedded');
  site = platform.site(1, 1);
  partner = new PartnerClient({ apiUrl: platform.demo.apiUrl, ...platform.demo.partner });
  line = new NetworkLine(Number(new URL(platform.demo.apiUrl).port));
  await line.open();
});
beforeEach(async () => {
  reference = String(randomInt(1e12));
  till = `TILL-${randomInt(1e9)}`;
  computer = await startComputer();
});
afterEach(async () => {
  line.repair();
  line.losesResponses = false;
  await computer.stop();
});
afterAll(() => line?.close());

/** A computer with an empty database. */
async function startComputer(): Promise<StoreComputer> {
  const { siteId, siteReference, apiKey, merchant } = site;
  const started = new StoreComputer(
    {
      apiUrl: line.url,
      merchantId: merchant.merchantId,
      sites: [{ siteId, siteReference, apiKey }],
      port: await findFreePort(),
      database: 'transformer.sqlite',
    },
    false,
  );
  await started.start();
  return started;
}
const callInvoice = async (action: 'line' | 'total' | 'reset', body: object): Promise<TillAnswer['body']> =>
  (await computer.call('POST', `/v1/sites/${site.siteId}/invoice/${action}`, body, till)).body;
const sendTotal = (amount = AMOUNT) => callInvoice('total', { amount, reference });
const sendLine = (id: number, price: number) =>
  callInvoice('line', {
    id,
    itemName: 'Rooibos',
    itemProductCode: 'RB',
    itemPrice: price,
    itemQuantity: 1,
    totalPrice: price,
  });
const getPayment = () => computer.call('GET', `/GetPayment?MerchantOrderId=${reference}`);
const tillState = async () =>
  (await computer.call('GET', `/till/${site.siteId}/state?till=${till}`)).body as unknown as {
    waitingCalls: number;
    basket: { state: string; amountCents: number | null; codePath: string | null };
  };
const waitUntilSent = () =>
  waitUntil('all calls to be sent', 30_000, async () => (await tillState()).waitingCalls === 0);
const pay = (code: string, amount = AMOUNT) =>
  partner.service.pay({ code, amount, customer: { id: 'customer-1' }, card: APPROVED_CARD });
const waitForPayment = () =>
  waitUntil('the payment', 20_000, async () => {
    const answer = await getPayment();
    return answer.status === 200 && answer.body;
  });

/**
 * Shows a code at another till. The computer sends nothing before a response has shown it the platform's time (T14), so
 * a test that loses all responses would otherwise depend on whether the event stream has opened yet.
 */
async function learnPlatformTime(): Promise<void> {
  const total = { amount: AMOUNT, reference: String(randomInt(1e12)) };
  const path = `/v1/sites/${site.siteId}/invoice/total`;
  expect((await computer.call('POST', path, total, `TILL-${randomInt(1e9)}`)).body.Result).toBe('OK');
}

/** The till sends the total during an outage. After it, the basket has a code, is unpaid, and is paid by its code. */
async function sellDuringOutage(): Promise<void> {
  line.breakDown();
  expect((await sendTotal()).Result).toBe('WARN');
  line.repair();
  await waitUntilSent();
  const shown = await sendTotal();
  expect(shown).toMatchObject({ Result: 'OK', Message: '', Code: expect.stringContaining('/c/') });
  expect((await getPayment()).status).toBe(404);
  expect((await computer.call('GET', `/v1/invoice/${reference}/payment`)).status).toBe(404);
  const { paymentReference } = await pay(String(shown['Code']));
  expect(await waitForPayment()).toMatchObject({ StatusId: '2', SvcId: paymentReference, PaidAmount: AMOUNT });
}

it(
  'a paid web order with the number and the amount of a basket does not pay the basket',
  async () => {
    const order = { merchantOrderId: reference, amount: AMOUNT };
    const { redirectUrl } = await gatewayClient(platform, site).createSession(
      newSessionRequest('http://127.0.0.1:9/hook', order),
    );
    const { state } = await sendPayRequest(platform.demo.gatewayUrl, await preparePayRequest(redirectUrl));
    expect(state).toBe('succeeded');
    await sellDuringOutage();
  },
  TIMEOUT_MS,
);

it(
  'a basket of a replaced computer with the number and the amount of a basket does not pay the basket',
  async () => {
    const earlier = await sendTotal();
    await pay(String(earlier['Code']));
    expect(await waitForPayment()).toMatchObject({ StatusId: '2' });
    await computer.stop();
    computer = await startComputer();
    await sellDuringOutage();
  },
  TIMEOUT_MS,
);

it(
  'an invoice that was paid although its response was lost pays its basket, and no second invoice is made',
  async () => {
    await learnPlatformTime();
    line.losesResponses = true;
    expect((await sendTotal()).Result).toBe('WARN');
    const merchant = await callTillApi(platform, 'PUT', `/tills/${till}/code`, 'application/json', undefined, site);
    const { code } = (await merchant.json()) as { code: string };
    // On a busy machine the platform may still be creating the invoice.
    await waitUntil('the invoice', 20_000, () => partner.service.decode(code).catch(() => undefined));
    // The customer scans the printed code of the till.
    const { paymentReference } = await pay(code);
    line.losesResponses = false;
    expect(await waitForPayment()).toMatchObject({ StatusId: '2', SvcId: paymentReference });
    await waitUntilSent();
    expect(await sendTotal()).toMatchObject({ Result: 'OK', Message: expect.stringContaining('has been paid') });
    // The printed code leads to no other invoice.
    await expect(pay(code)).rejects.toMatchObject({ httpStatus: 404 });
  },
  TIMEOUT_MS,
);

it(
  'a line after the total closes the code, also during an outage, and no screen shows the old total',
  async () => {
    for (const isOutage of [false, true]) {
      await sendLine(1, 1_000);
      const first = await sendTotal(1_000);
      expect((await tillState()).basket).toMatchObject({ state: 'payable', amountCents: 1_000 });
      if (isOutage) line.breakDown();
      expect(await sendLine(2, 5_000)).toMatchObject({
        Result: 'WARN',
        Message: expect.stringMatching(/Send total again\.$/),
      });
      expect((await tillState()).basket).toMatchObject({ state: 'filling', amountCents: null, codePath: null });
      line.repair();
      await waitUntilSent();
      await expect(pay(String(first['Code']), 1_000)).rejects.toMatchObject({ code: 'payable.closed' });
      const next = await sendTotal(6_000);
      expect(next.Result).toBe('OK');
      await pay(String(next['Code']), 6_000);
      await waitUntil('the payment', 20_000, async () => (await getPayment()).body['PaidAmount'] === 6_000);
      await callInvoice('reset', {});
      reference = String(randomInt(1e12));
    }
  },
  TIMEOUT_MS,
);

it(
  'a request for an invoice that is repeated after its payment returns the paid invoice',
  async () => {
    const body = newInvoiceRequest({ externalReference: reference, siteReference: till });
    const post = async (changes: object = {}, key = randomUUID()): Promise<unknown[]> => {
      const { apiUrl } = platform.demo;
      const path = `/business/api/v1/merchants/${site.merchant.merchantId}/sites/${site.siteId}/invoices`;
      const response = await fetch(`${apiUrl}${path}`, {
        method: 'POST',
        headers: { 'x-api-key': site.apiKey, 'content-type': 'application/json', 'idempotency-key': key },
        body: JSON.stringify({ ...body, ...changes }),
      });
      const { reference: id, state, code } = (await response.json()) as Record<string, string>;
      return [response.status, response.headers.get('idempotency-replayed'), id, state, code];
    };
    const key = randomUUID();
    const [, , invoice, , code] = await post({}, key);
    await pay(String(code), 8_950);
    await waitUntil('the closed invoice', 10_000, async () => (await post({}, key))[3] === 'closed');
    expect((await post()).slice(0, 4)).toEqual([200, 'true', invoice, 'closed']);
    expect((await post({ createdUTCDate: '2030-01-01T00:00:00Z' }, key)).slice(0, 3)).toEqual([200, 'true', invoice]);
    expect((await post({ amount: 1 }, key))[0]).toBe(409);
  },
  TIMEOUT_MS,
);
