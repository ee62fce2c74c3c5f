import { FindTillInvoiceV1 } from '@svc/contracts';
import { newOwnCode } from '@svc/kernel';
import { Commands, type ReplyEnvelope } from '@svc/messaging';
import { type Gateway, type Merchant, startGateway } from '../../test/gateway.js';
import { removeLanguageLinks } from '../../test/pages.js';
import { buildInvoiceCreated, createInvoice, createTill } from '../../test/till-invoices.js';

let gateway: Gateway;
let merchant: Merchant;
let receivedRequests: object[];
beforeAll(async () => {
  gateway = await startGateway();
  merchant = await gateway.createMerchant();
});
afterAll(() => gateway.stop());

const openPage = (code: string) =>
  gateway.call('GET', `/c/${code}`, { headers: { accept: 'text/html,application/xhtml+xml' } });
const pageState = (text: string): string | undefined => /data-state="([^"]*)"/.exec(text)?.[1];
/**
 * Simulates code-decoder: from now on, it replies with the till's open invoice, or with an error if `reply` is
 * undefined.
 */
async function setTillReply(reply: { invoiceReference?: string } | undefined): Promise<void> {
  receivedRequests = [];
  await gateway.respondTo(FindTillInvoiceV1, (request): ReplyEnvelope => {
    receivedRequests.push(request);
    return reply
      ? { ok: true, reply }
      : { ok: false, code: 'service.not-ready', message: 'Try again.', fields: [], retryAfterSeconds: 1 };
  });
  // The gateway caches a response for one second.
  gateway.clock.advance(1_000);
}

test('the static code of a till redirects to its page for the newest open invoice, which has its own address', async () => {
  const [code, invoice] = [await createTill(gateway, merchant), await createInvoice(gateway, merchant)];
  await setTillReply({ invoiceReference: invoice.payableId });
  const { status, headers } = await openPage(code);
  expect([status, headers['location'], headers['cache-control']]).toEqual([
    303,
    `/c/${code}/invoices/${invoice.payableId}`,
    'no-store',
  ]);
  expect(receivedRequests).toEqual([{ code }]);
  // The redirect contains the language that the payer has chosen.
  expect((await openPage(`${code}?lang=zu`)).headers['location']).toBe(
    `/c/${code}/invoices/${invoice.payableId}?lang=zu`,
  );
});

test('a till without an open invoice, or whose invoice has not arrived as an event, has a page that reloads', async () => {
  const code = await createTill(gateway, merchant);
  for (const reply of [{}, { invoiceReference: buildInvoiceCreated(gateway, merchant).payable.payableId }]) {
    await setTillReply(reply);
    const { status, text } = await openPage(code);
    expect([status, pageState(text)]).toEqual([200, 'till']);
    for (const shown of [
      'Karoo Books',
      'Nothing to pay at this till yet',
      '<noscript><meta http-equiv="refresh" content="5"',
    ])
      expect(text).toContain(shown);
    expect(removeLanguageLinks(text)).not.toMatch(/<form|<a |data-session-id|class="amount"/);
  }
  expect((await gateway.call('GET', `/c/${code}/state`)).status).toBe(404);
  expect(
    (
      await gateway.call('POST', `/c/${code}/payments`, {
        payload: { reference: '0b6c3f4e-6f2a-7c3b-9d1e-7a8b9c0d1e2f', paymentNumber: 1, encryptedCard: 'a.b.c' },
      })
    ).status,
  ).toBe(404);
});

test('the gateway queries code-decoder at most once a second for each till, and never for unknown codes', async () => {
  const code = await createTill(gateway, merchant);
  await setTillReply({});
  await Promise.all(Array.from({ length: 20 }, () => openPage(code)));
  gateway.clock.advance(999);
  await openPage(code);
  expect(receivedRequests).toHaveLength(1);
  gateway.clock.advance(1);
  await openPage(code);
  expect(receivedRequests).toHaveLength(2);
  await openPage(newOwnCode());
  expect(receivedRequests).toHaveLength(2);
});

test('the query to code-decoder has a timeout of two seconds', async () => {
  const code = await createTill(gateway, merchant);
  await setTillReply({});
  const request = jest.spyOn(gateway.service.app.get(Commands), 'request');
  await openPage(code);
  expect(request.mock.calls).toEqual([[FindTillInvoiceV1, { code }, 2_000]]);
  request.mockRestore();
});

test('while code-decoder is unavailable, the response is 503 with a page that reloads', async () => {
  const code = await createTill(gateway, merchant);
  await setTillReply(undefined);
  const { status, headers, text } = await openPage(code);
  expect([status, headers['content-type'], pageState(text)]).toEqual([503, 'text/html; charset=utf-8', 'unavailable']);
});

test('a static code never expires', async () => {
  const code = await createTill(gateway, merchant);
  await setTillReply({});
  gateway.clock.advance(365 * 86_400_000);
  expect((await openPage(code)).status).toBe(200);
});

test('the page of a code shows the name of the merchant who owns the code, also if two merchants have a site with the same siteId', async () => {
  const { siteId } = merchant;
  const otherMerchant = await gateway.createMerchant({ siteId, merchantName: 'Cape Cycles' });
  const otherSite = await gateway.createMerchant({
    merchantId: merchant.merchantId,
    merchantName: 'Karoo Books, Paarl',
  });
  await setTillReply({});
  for (const [owner, name] of [
    [merchant, 'Karoo Books'],
    [otherMerchant, 'Cape Cycles'],
    [otherSite, 'Karoo Books, Paarl'],
  ] as const) {
    const invoice = await createInvoice(gateway, owner);
    for (const code of [invoice.source.code, await createTill(gateway, owner)])
      expect((await openPage(code)).text).toContain(
        `<bdi${code === invoice.source.code ? ' class="merchant-name"' : ''}>${name}</bdi>`,
      );
  }
});
