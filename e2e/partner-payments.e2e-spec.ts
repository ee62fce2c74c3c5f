/** Partners pay with the commands of the guide and with the example. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { PartnerClient } from '@svc/sdk';
import { waitUntil } from '@svc/testing';
import { logIn } from './callers/partner.js';
import { createInvoice } from './callers/till.js';
import { listTables, scanFiles, scanTables } from './consistency/card-scan.js';
import { documentedBlocks } from './platform/documented.js';
import { type Platform, run } from './platform/platform.js';
import { sharedPlatform } from './platform/shared-platform.js';

let platform: Platform;
beforeAll(async () => {
  platform = await sharedPlatform('embedded');
});

it('the curl commands of the guide work as written, also when repeated', async () => {
  const [block] = documentedBlocks('partner');
  for (let times = 0; times < 2; times++) {
    const { code, output } = await run('bash', ['-euo', 'pipefail', '-c', block!], platform.env());
    expect([code, code === 0 ? '' : output]).toEqual([0, '']);
    const [decoded, repeated, single, history] = output
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(decoded).toMatchObject({ invoice: { amount: 8_950, state: 'open' } });
    expect(repeated).toMatchObject({ status: 'success', processedAmount: 8_950, errors: null });
    const { paymentReference, reference } = repeated as { paymentReference: string; reference: string };
    expect(single).toMatchObject({ reference, paymentReference, status: 1, paymentMethodLabel: '**** 4242' });
    expect(history).toMatchObject({ payments: [{ paymentReference, status: 'success' }] });
    const retrieved = output.split('\n').filter((line) => line.startsWith('['));
    expect(retrieved.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      [{ paymentReference, status: 1, tenderedAmount: 8_950, siteReference: 'TILL-1' }],
    ]);
    const charged = platform.charges().filter((charge) => charge.paymentReference === paymentReference);
    expect(charged.map(({ outcome, amount }) => [outcome, amount])).toEqual([['approved', 8_950]]);
  }
});

it('the guide explains the login of a user who is not a customer yet', async () => {
  const [block] = documentedBlocks('unregistered');
  const { code, output } = await run('bash', ['-euo', 'pipefail', '-c', block!], platform.env());
  expect([code, code === 0 ? '' : output]).toEqual([0, '']);
  expect(output).toContain('The requested URL returned error: 401');
  const [registered, customerId] = output.trim().split('\n').slice(-2);
  expect((JSON.parse(registered!) as { customerReference: string }).customerReference).toBe(customerId);
});

it('the example of a partner’s server works', async () => {
  const { code, output } = await run(process.execPath, ['examples/partner/pay-an-invoice.ts'], platform.env());
  expect([code, code === 0 ? '' : output]).toEqual([0, '']);
  const lines = output.trim().split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      'scanned: Karoo Roastery, 8950 cents, open',
      'stored: **** 4242 (visa)',
      'paid: success, 8950 cents',
      'repeated: the same payment',
      'declined: failed, error 10',
      expect.stringMatching(/^history: failed, \*{4} 0002, /),
      expect.stringMatching(/^history: success, \*{4} 4242, /),
      'deleted',
    ]),
  );
});

it('the example of a merchant’s back office creates an invoice, receives its payment on the stream, and looks it up', async () => {
  const { code, output } = await run(process.execPath, ['examples/merchant/follow-payments.ts'], platform.env());
  expect([code, code === 0 ? '' : output]).toEqual([0, '']);
  expect(output.trim().split('\n')).toEqual([
    'invoice: 12500 cents, open',
    'its QR code: an SVG image',
    expect.stringMatching(/^the till's own code: http\S+\/c\/\d{20}$/),
    expect.stringMatching(/^received: payment, Success, 12500 cents, ORDER-\d+$/),
    'found: Success, 12500 cents',
  ]);
});

it('after the payer confirms the verification, the payment succeeds and is in the history', async () => {
  const { apiUrl, partner } = platform.demo;
  const client = new PartnerClient({ apiUrl, ...partner });
  const card = { cardNumber: '4000000000003220', cvv: '123', holderName: 'T Payer', expiryMonth: 12, expiryYear: 2030 };
  const request = { reference: randomUUID(), customer: { id: randomUUID() }, amount: 4_500, card };
  const payment = await client.service.pay({
    ...request,
    code: (await createInvoice(platform, { amount: 4_500 })).code,
  });
  expect(payment.status).toBe('verificationRequired');
  const back = await fetch(payment.verificationUrl!, {
    method: 'POST',
    body: new URLSearchParams({ answer: 'confirm' }),
  });
  const { origin, pathname } = new URL(back.url);
  expect([back.status, origin + pathname]).toEqual([200, `${apiUrl}/v1/verifications/${payment.paymentReference}`]);
  expect(await back.text()).toContain('Your payment is complete');
  await waitUntil('the payment in the history', 10_000, async () => {
    for await (const { reference, status } of client.service.history({ customerReference: request.customer.id }))
      if (reference === request.reference) return status === 'success';
    return false;
  });
});

it('the platform stores no card number of a partner’s request in a table, a log, or the acquirer’s file', async () => {
  const plantedNumber = '5105105105105100';
  const { apiUrl, partner } = platform.demo;
  const headers = await logIn(platform);
  const card = { cardNumber: plantedNumber, cvv: '971', holderName: 'T Payer', expiryMonth: 12, expiryYear: 2030 };
  const pay = async (amount: number, method: object) =>
    fetch(`${apiUrl}/v1/payments`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({
        reference: randomUUID(),
        code: Buffer.from((await createInvoice(platform, { amount: amount })).code).toString('base64'),
        amount,
        customer: { id: randomUUID() },
        paymentMethod: { card: method },
      }),
    });
  expect((await pay(1_100, card)).status).toBe(201);
  expect((await pay(1_200, { ...card, cvv: 'x' })).status).toBe(400);
  const { token } = await new PartnerClient({ apiUrl, ...partner }).service.storeCard(card);
  expect((await pay(1_300, { token })).status).toBe(201);

  // The number is also sent in fields where a card number does not belong.
  for (const misplaced of [
    { token: plantedNumber },
    { encryptedCard: plantedNumber },
    { ...card, expiryYear: plantedNumber },
  ])
    expect((await pay(1_400, misplaced)).ok).toBe(false);
  const json = { ...headers, 'content-type': 'application/json' };
  const misplacedRequests: [string, string, RequestInit][] = [
    ['DELETE', `/v1/cards/${plantedNumber}`, { headers }],
    ['GET', `/v1/payments/${plantedNumber}`, { headers }],
    ['GET', `/v1/payments?customerReference=${plantedNumber}&page=${plantedNumber}`, { headers }],
    ['GET', `/v1/codes/${Buffer.from(plantedNumber).toString('base64')}`, { headers }],
    ['GET', `/v1/verifications/${plantedNumber}`, {}],
    ['GET', '/v1/payments', { headers: { ...headers, 'x-api-key': plantedNumber, traceparent: plantedNumber } }],
    ['GET', '/v1/payments', { headers: { ...headers, authorization: `Bearer ${plantedNumber}` } }],
    ['POST', '/v1/payments', { headers: json, body: `{"reference": "${plantedNumber}", "amount": ${plantedNumber}}` }],
    ['POST', '/v1/cards', { headers: json, body: `{"cardNumber": "${plantedNumber}"` }],
    ['POST', '/v1/cards', { headers, body: new URLSearchParams({ cardNumber: plantedNumber }) }],
  ];
  for (const [method, path, init] of misplacedRequests) {
    const answer = await fetch(`${apiUrl}${path}`, { method, ...init });
    expect([path, answer.status < 500, (await answer.text()).includes(plantedNumber)]).toEqual([path, true, false]);
  }

  const client = await platform.sqlClient();
  try {
    expect(await scanTables(client, await listTables(client), [plantedNumber])).toEqual([]);
  } finally {
    await client.end();
  }
  for (const folder of ['log', 'acquirer', 'env'])
    expect(scanFiles(join(platform.dataDir, folder), [plantedNumber])).toEqual([]);
});
