/** Tills create invoices, and partners' apps decode their codes. Every service has its own process. */
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { waitUntil } from '@svc/testing';
import { decodeCode, logIn, type PartnerHeaders } from './callers/partner.js';
import { callTillApi, createInvoice } from './callers/till.js';
import { documentedBlocks } from './platform/documented.js';
import { type Platform, run } from './platform/platform.js';
import { sharedPlatform } from './platform/shared-platform.js';

let platform: Platform;
let partner: PartnerHeaders;

beforeAll(async () => {
  platform = await sharedPlatform('distributed');
  partner = await logIn(platform);
  await waitUntil(
    'the partner to reach code-decoder',
    5_000,
    async () => (await decodeCode(platform, 'x', partner)).status !== 401,
  );
});

async function newCode(changes: Record<string, unknown> = {}): Promise<string> {
  return (await createInvoice(platform, changes)).code;
}

test('the commands of the guide work as written, also when repeated', async () => {
  const [block] = documentedBlocks('codes');
  for (let time = 1; time <= 2; time++) {
    const { code, output } = await run('bash', ['-euo', 'pipefail', '-c', block!], platform.env());
    expect([code, output]).toEqual([0, expect.stringContaining('<svg ')]);
    const decoded = JSON.parse(/^\{"merchant".*$/m.exec(output)?.[0] ?? '') as Record<string, object>;
    expect(decoded).toMatchObject({
      merchant: { merchantName: 'Karoo Roastery', currencySymbol: 'R' },
      invoice: { amount: 8_950, state: 'open', lineItems: [{ sku: 'RC', unitPrice: '4475', quantity: 2 }] },
    });
  }
});

test('fifty invoices can be decoded as soon as the till has the answer', async () => {
  for (let count = 0; count < 50; count++) {
    const amount = 1_000 + count;
    const { status, body } = await decodeCode(platform, await newCode({ amount }), partner);
    expect([status, body?.invoice['amount'], body?.invoice['state']]).toEqual([200, amount, 'open']);
    expect(body?.merchant).toMatchObject({ merchantName: 'Karoo Roastery', currencySymbol: 'R' });
  }
});

test('an invoice that is replaced or closed is decoded as closed, and its payable is closed', async () => {
  const externalReference = `basket-${randomUUID()}`;
  const replacedCode = await newCode({ externalReference });
  const newestCode = await newCode({ externalReference, amount: 1 });
  expect((await decodeCode(platform, replacedCode, partner)).body?.invoice['state']).toBe('closed');
  expect((await decodeCode(platform, newestCode, partner)).body?.invoice).toMatchObject({ state: 'open', amount: 1 });

  const closed = await callTillApi(platform, 'DELETE', `/invoices?externalReference=${externalReference}`, '*/*');
  expect(closed.status).toBe(204);
  expect((await decodeCode(platform, newestCode, partner)).body?.invoice['state']).toBe('closed');
  const payables = await platform.sql<{ state: string }>(
    `SELECT p.state FROM payment_processor.payables p JOIN code_decoder.invoices i ON i.invoice_id = p.payable_id
      WHERE i.external_reference = $1`,
    [externalReference],
  );
  expect(payables.map(({ state }) => state)).toEqual(['closed', 'closed']);
});

test('features of a merchant are shown as soon as they are set', async () => {
  const code = await newCode();
  const { merchantId } = platform.site(0, 0).merchant;
  const command = await platform.svc(
    'admin',
    'features',
    'set',
    String(merchantId),
    'tip.enabled=true',
    'orderReference.label=Table',
  );
  expect(command).toMatchObject({ code: 0 });
  await waitUntil('the features to be shown', 5_000, async () => {
    const features = (await decodeCode(platform, code, partner)).body?.merchant['features'];
    return isDeepStrictEqual(features, { orderReference: { label: 'Table' }, tip: { enabled: true } });
  });
});

test('a third-party provider decodes its own codes over HTTP; if it does not respond, decoding returns a 503', async () => {
  const decoded = await decodeCode(platform, 'https://pay.simulated-provider.example/25000', partner);
  expect([decoded.status, decoded.body?.invoice['amount']]).toEqual([200, 25_000]);
  const unanswered = await decodeCode(platform, 'https://pay.simulated-provider.example/silent', partner);
  expect([unanswered.status, unanswered.headers.get('retry-after')]).toEqual([503, '2']);
});
