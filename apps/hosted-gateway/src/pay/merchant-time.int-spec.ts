/** The page and the receipt show times in the time zone that the merchant had at that time (M7). */
import { randomUUID } from 'node:crypto';
import { ChargeInvoiceV1, type TimeZonePeriod } from '@svc/contracts';
import { buildPayment, type Gateway, type Merchant, startGateway } from '../../test/gateway.js';
import { changeMerchant, createInvoice } from '../../test/till-invoices.js';

let gateway: Gateway;
let merchant: Merchant;
beforeAll(async () => {
  gateway = await startGateway();
});
beforeEach(async () => {
  merchant = await gateway.createMerchant();
});
afterAll(() => gateway.stop());

const PAID_AT = '2026-03-08T06:59:00.000Z';

/** Pays, and returns the time on the receipt. */
async function payAndReadTime(callsPath: string, pagePath: string): Promise<string | undefined> {
  const paid = { state: 'success', version: 3, modifiedUTCDate: PAID_AT } as const;
  await gateway.respondToCharges(({ payable, reference }) => ({
    ...{ ok: true, reply: buildPayment(payable, { reference, ...paid }) },
  }));
  await gateway.respondTo(ChargeInvoiceV1, ({ payable, reference }) => ({
    ...{ ok: true, reply: buildPayment(payable, { reference, ...paid }) },
  }));
  const reference = randomUUID();
  const payload = { reference, paymentNumber: 1, encryptedCard: 'a.b.c' };
  expect((await gateway.call('POST', `${callsPath}/payments`, { payload })).status).toBe(200);
  const headers = { accept: 'text/html', cookie: `svc-payment=${reference}` };
  const { text } = await gateway.call('GET', pagePath, { headers });
  return new RegExp(`<time dateTime="${PAID_AT}">(.*?)</time>`, 'i').exec(text)?.[1];
}

async function readTimeOfSession(): Promise<string | undefined> {
  const sessionId = await gateway.createSession(merchant);
  return payAndReadTime(`/pay/${sessionId}`, `/pay?sessionId=${sessionId}`);
}

async function readTimeOfInvoice(): Promise<string | undefined> {
  const { source } = await createInvoice(gateway, merchant);
  return payAndReadTime(`/c/${source.code}`, `/c/${source.code}`);
}

describe.each<[string, TimeZonePeriod[] | undefined, string]>([
  ['no zone has arrived yet', undefined, '8 March 2026 at 08:59 SAST'],
  ['the zone is Asia/Kathmandu', [{ zone: 'Asia/Kathmandu' }], '8 March 2026 at 12:44 GMT+5:45'],
  // A minute later the clocks in New York change.
  ['the zone is America/New_York', [{ zone: 'America/New_York' }], '8 March 2026 at 01:59 GMT-5'],
  [
    'another zone began after the payment',
    [{ zone: 'Asia/Kathmandu' }, { zone: 'UTC', from: '2026-03-08T06:59:00.001Z' }],
    '8 March 2026 at 12:44 GMT+5:45',
  ],
  [
    'another zone began with the payment',
    [{ zone: 'Asia/Kathmandu' }, { zone: 'UTC', from: PAID_AT }],
    '8 March 2026 at 06:59 UTC',
  ],
])('if %s', (_, timeZones, expected) => {
  beforeEach(async () => {
    if (timeZones) await changeMerchant(gateway, merchant, 1, { timeZones });
  });

  test('the receipt of a session shows the local time', async () => expect(await readTimeOfSession()).toBe(expected));

  test('the receipt of a till’s invoice shows the local time', async () =>
    expect(await readTimeOfInvoice()).toBe(expected));
});

test('the form names the time zone at the expiry for its script, which shows the expiry in it', async () => {
  await changeMerchant(gateway, merchant, 1, {
    timeZones: [
      { zone: 'Asia/Kathmandu' },
      { zone: 'America/New_York', from: gateway.clock.later(60_000).toISOString() },
    ],
  });
  const sessionId = await gateway.createSession(merchant);
  const headers = { accept: 'text/html' };
  const { text } = await gateway.call('GET', `/pay?sessionId=${sessionId}`, { headers });
  expect(text).toContain('data-time-zone="America/New_York"');
});

test('the zones of another merchant, and an older event, change nothing', async () => {
  await changeMerchant(gateway, merchant, 2, { timeZones: [{ zone: 'Asia/Kathmandu' }] });
  await changeMerchant(gateway, merchant, 1, { timeZones: [{ zone: 'UTC' }] });
  await changeMerchant(gateway, await gateway.createMerchant(), 3, { timeZones: [{ zone: 'UTC' }] });
  expect(await readTimeOfSession()).toBe('8 March 2026 at 12:44 GMT+5:45');
});
