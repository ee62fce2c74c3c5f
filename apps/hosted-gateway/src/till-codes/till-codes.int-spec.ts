import { randomUUID } from 'node:crypto';
import { type EventEnvelope, InvoiceCreatedV1, TillCodeMadeV1 } from '@svc/contracts';
import { newOwnCode } from '@svc/kernel';
import { anEvent } from '@svc/testing';
import { type Gateway, type Merchant, startGateway } from '../../test/gateway.js';

let gateway: Gateway;
let merchant: Merchant;
beforeAll(async () => {
  gateway = await startGateway();
  merchant = await gateway.aMerchant();
});
afterAll(() => gateway.stop());

const open = (code: string) => gateway.call('GET', `/c/${code}`);
const shownOn = (text: string): string | undefined => /data-state="([^"]*)"/.exec(text)?.[1];

function anInvoice(
  code: string,
  { merchantId, siteId }: Pick<Merchant, 'merchantId' | 'siteId'> = merchant,
): EventEnvelope {
  const invoiceReference = randomUUID();
  const payable = {
    payableId: invoiceReference,
    mode: 'test' as const,
    merchantId,
    siteId,
    amount: 8_950,
    currencyISOCode: 'ZAR',
    expiresAt: gateway.clock.later(3_600_000).toISOString(),
    triesMax: 100,
    source: { kind: 'invoice' as const, invoiceReference, siteReference: 'TILL-1', code },
  };
  return anEvent(InvoiceCreatedV1, invoiceReference, 1, {
    payable,
    origin: 'pos',
    createdUTCDate: gateway.clock.nowISO(),
  });
}

test('a camera that opens the code of an invoice is told whose it is, what it is, and what reads it; until it expires', async () => {
  const code = newOwnCode();
  const event = anInvoice(code);
  await gateway.deliver(event, event);
  const { status, text, headers } = await open(code);
  expect([status, headers['content-type'], shownOn(text)]).toEqual([200, 'text/html; charset=utf-8', 'till']);
  for (const shown of ['Karoo Books', 'R 89.50', 'Scan this code with a payment app']) expect(text).toContain(shown);
  expect(text).not.toMatch(/<form|<a |data-session-id/);
  expect((await gateway.call('GET', `/c/${code}/state`)).status).toBe(404);
  const payload = { reference: randomUUID(), try: 1, encryptedCard: 'a.b.c' };
  expect((await gateway.call('POST', `/c/${code}/payments`, { payload })).status).toBe(404);

  gateway.clock.advance(3_599_999);
  expect(shownOn((await open(code)).text)).toBe('till');
  gateway.clock.advance(1);
  const late = await open(code);
  expect([late.status, shownOn(late.text)]).toEqual([404, 'not-found']);
});

test('the static code of a till says so without an amount, for ever', async () => {
  const code = newOwnCode();
  const { merchantId, siteId } = merchant;
  const made = { code, mode: 'test' as const, merchantId, siteId, siteReference: 'TILL-1' };
  await gateway.deliver(anEvent(TillCodeMadeV1, code, 1, made));
  gateway.clock.advance(365 * 86_400_000);
  const { status, text } = await open(code);
  expect([status, shownOn(text)]).toEqual([200, 'till']);
  expect(text).toContain('Karoo Books');
  expect(text).not.toContain('class="amount"');
});

test('a code shows the name of its own merchant, whatever the number of its site', async () => {
  const { siteId } = merchant;
  const twin = await gateway.aMerchant({ siteId, merchantName: 'Cape Cycles' });
  const second = await gateway.aMerchant({ merchantId: merchant.merchantId, merchantName: 'Karoo Books, Paarl' });
  for (const [owner, name] of [
    [merchant, 'Karoo Books'],
    [twin, 'Cape Cycles'],
    [second, 'Karoo Books, Paarl'],
  ] as const) {
    const code = newOwnCode();
    await gateway.deliver(anInvoice(code, owner));
    expect((await open(code)).text).toContain(`<bdi>${name}</bdi>`);
  }
});

test('one of a merchant that is not known yet is not shown without its name', async () => {
  const code = newOwnCode();
  await gateway.deliver(anInvoice(code, { ...merchant, siteId: 999_999 }));
  expect((await open(code)).status).toBe(404);
});
