import { FindTillInvoiceV1 } from '@svc/contracts';
import { newOwnCode } from '@svc/kernel';
import { Commands, type ReplyEnvelope } from '@svc/messaging';
import { type Gateway, type Merchant, startGateway } from '../../test/gateway.js';
import { withoutLanguages } from '../../test/pages.js';
import { anInvoice, anInvoiceCreated, aTill } from '../../test/till-invoices.js';

let gateway: Gateway;
let merchant: Merchant;
let asked: object[];
beforeAll(async () => {
  gateway = await startGateway();
  merchant = await gateway.aMerchant();
});
afterAll(() => gateway.stop());

const open = (code: string) =>
  gateway.call('GET', `/c/${code}`, { headers: { accept: 'text/html,application/xhtml+xml' } });
const shownOn = (text: string): string | undefined => /data-state="([^"]*)"/.exec(text)?.[1];
/** Responds as code-decoder. */
async function tillHas(reply: { invoiceReference?: string } | undefined): Promise<void> {
  asked = [];
  await gateway.responds(FindTillInvoiceV1, (request): ReplyEnvelope => {
    asked.push(request);
    return reply
      ? { ok: true, reply }
      : { ok: false, code: 'service.not-ready', message: 'Try again.', fields: [], retryAfterSeconds: 1 };
  });
  // The cached response has expired.
  gateway.clock.advance(1_000);
}

test('the static code of a till redirects to the page of its newest open invoice, which has its own address', async () => {
  const [code, invoice] = [await aTill(gateway, merchant), await anInvoice(gateway, merchant)];
  await tillHas({ invoiceReference: invoice.payableId });
  const { status, headers } = await open(code);
  expect([status, headers['location'], headers['cache-control']]).toEqual([
    303,
    `/c/${invoice.source.code}`,
    'no-store',
  ]);
  expect(asked).toEqual([{ code }]);
  // In the language that the payer chose on the waiting page.
  expect((await open(`${code}?lang=zu`)).headers['location']).toBe(`/c/${invoice.source.code}?lang=zu`);
  expect(shownOn((await open(invoice.source.code)).text)).toBe('open');
});

test('a till without an open invoice has a page that checks again, also until the event of the invoice arrives', async () => {
  const code = await aTill(gateway, merchant);
  for (const reply of [{}, { invoiceReference: anInvoiceCreated(gateway, merchant).payable.payableId }]) {
    await tillHas(reply);
    const { status, text } = await open(code);
    expect([status, shownOn(text)]).toEqual([200, 'till']);
    for (const shown of ['Karoo Books', 'nothing to pay', '<noscript><meta http-equiv="refresh" content="5"'])
      expect(text).toContain(shown);
    expect(withoutLanguages(text)).not.toMatch(/<form|<a |data-session-id|class="amount"/);
  }
  expect((await gateway.call('GET', `/c/${code}/state`)).status).toBe(404);
  expect(
    (
      await gateway.call('POST', `/c/${code}/payments`, {
        payload: { reference: '0b6c3f4e-6f2a-7c3b-9d1e-7a8b9c0d1e2f', try: 1, encryptedCard: 'a.b.c' },
      })
    ).status,
  ).toBe(404);
});

test('the gateway queries code-decoder once a second for all phones at a till, and not for other codes', async () => {
  const code = await aTill(gateway, merchant);
  await tillHas({});
  await Promise.all(Array.from({ length: 20 }, () => open(code)));
  gateway.clock.advance(999);
  await open(code);
  expect(asked).toHaveLength(1);
  gateway.clock.advance(1);
  await open(code);
  expect(asked).toHaveLength(2);
  await open(newOwnCode());
  expect(asked).toHaveLength(2);
});

test('a payer waits at most two seconds for code-decoder', async () => {
  const code = await aTill(gateway, merchant);
  await tillHas({});
  const request = jest.spyOn(gateway.service.app.get(Commands), 'request');
  await open(code);
  expect(request.mock.calls).toEqual([[FindTillInvoiceV1, { code }, 2_000]]);
  request.mockRestore();
});

test('without code-decoder the page says that it retries', async () => {
  const code = await aTill(gateway, merchant);
  await tillHas(undefined);
  const { status, headers, text } = await open(code);
  expect([status, headers['content-type'], shownOn(text)]).toEqual([503, 'text/html; charset=utf-8', 'unavailable']);
});

test('a static code never expires', async () => {
  const code = await aTill(gateway, merchant);
  await tillHas({});
  gateway.clock.advance(365 * 86_400_000);
  expect((await open(code)).status).toBe(200);
});

test('a code shows the name of its own merchant, also if two merchants have a site of the same number', async () => {
  const { siteId } = merchant;
  const twin = await gateway.aMerchant({ siteId, merchantName: 'Cape Cycles' });
  const second = await gateway.aMerchant({ merchantId: merchant.merchantId, merchantName: 'Karoo Books, Paarl' });
  await tillHas({});
  for (const [owner, name] of [
    [merchant, 'Karoo Books'],
    [twin, 'Cape Cycles'],
    [second, 'Karoo Books, Paarl'],
  ] as const) {
    const invoice = await anInvoice(gateway, owner);
    for (const code of [invoice.source.code, await aTill(gateway, owner)])
      expect((await open(code)).text).toContain(
        `<bdi${code === invoice.source.code ? ' class="merchant-name"' : ''}>${name}</bdi>`,
      );
  }
});

test('an invoice stored by an earlier release has no page: the payer is advised to use a payment app', async () => {
  const code = newOwnCode();
  await gateway.dataSource.query(
    `INSERT INTO known_till_codes (code, merchant_id, site_id, amount, currency, expires_at) VALUES ($1, $2, $3, 8950, 'ZAR', $4)`,
    [code, merchant.merchantId, merchant.siteId, gateway.clock.later(3_600_000)],
  );
  await tillHas({});
  const { status, text } = await open(code);
  expect([status, shownOn(text), asked]).toEqual([404, 'not-found', []]);
  expect(text).toContain('scan it with a payment app');
});
