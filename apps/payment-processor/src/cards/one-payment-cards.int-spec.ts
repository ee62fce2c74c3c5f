/** Cards that are stored for one payment, whose payer must first open our page. */
import { randomUUID } from 'node:crypto';
import { BrowserPayer, FRICTIONLESS } from '../../test/adyen/browser-payer.js';
import type { Processor } from '../../test/processor.js';
import { Acquirers } from '../acquirers/acquirers.js';

let payer: BrowserPayer;
let processor: Processor;
beforeAll(async () => {
  payer = await BrowserPayer.start();
  ({ processor } = payer);
});
beforeEach(async () => {
  await payer.useNewToken();
  await payer.useNewInvoice();
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => payer.stop());

test('the card of one payment is deleted in the vault when the payment has ended, and after an hour at the latest', async () => {
  await payer.deleteCards();
  const before = await payer.countStoredCards();
  for (const card of [{ ...FRICTIONLESS, holderName: 'DECLINED' }, FRICTIONLESS]) {
    const payment = await payer.pay(card);
    await payer.deleteCards();
    expect(await payer.countStoredCards()).toBe(before + 1);
    await payer.press(payment);
    await payer.deleteCards();
    expect(await payer.countStoredCards()).toBe(before);
  }

  await payer.useNewInvoice();
  await payer.pay(FRICTIONLESS);
  processor.clock.advance(3_599_999);
  await payer.deleteCards();
  expect(await payer.countStoredCards()).toBe(before + 1);
  processor.clock.advance(1);
  await payer.deleteCards();
  expect(await payer.countStoredCards()).toBe(before);
});

test('a deletion that the vault does not confirm is retried with backoff after the payment has ended', async () => {
  await payer.press(await payer.pay(FRICTIONLESS));
  const deletion = jest.spyOn(processor.service.app.get(Acquirers).get('adyen'), 'deleteCard').mockResolvedValue(false);
  await payer.deleteCards();
  await payer.deleteCards();
  expect(deletion).toHaveBeenCalledTimes(1);
  processor.clock.advance(30_000);
  await payer.deleteCards();
  expect(deletion).toHaveBeenCalledTimes(2);
  deletion.mockRestore();
  processor.clock.advance(3_600_000);
  await payer.deleteCards();
});

test('the client cannot pay with the card of one payment, nor delete it', async () => {
  await payer.pay(FRICTIONLESS);
  const [{ token }] = await processor.dataSource.query<[{ token: string }]>(
    `SELECT card_token AS token FROM verifications ORDER BY expires_at DESC LIMIT 1`,
  );
  const paid = await payer.partner.pay(payer.invoice, { paymentMethod: { card: { token } } });
  expect([paid.status, (await payer.partner.call('DELETE', `/v1/cards/${token}`)).status]).toEqual([404, 404]);
});

test('a repeat of the request stores no second card, and returns the same URL', async () => {
  await payer.deleteCards();
  const before = await payer.countStoredCards();
  const payment = await payer.pay(FRICTIONLESS);
  expect(await payer.repeat()).toMatchObject({
    status: 'verificationRequired',
    verificationUrl: payment.verificationUrl,
  });
  expect(await payer.countStoredCards()).toBe(before + 1);
});

test.each<[string, Record<string, unknown>]>([
  ['responds with an error', { type: 'status', status: 422 }],
  ['does not respond', { type: 'lose-request', times: 20 }],
])('if the vault %s, no payment is recorded, and the call can be repeated', async (_, fault) => {
  await payer.addFault({ operation: 'stored-payment-methods', ...fault });
  const reference = randomUUID();
  const call = { reference, customer: { id: randomUUID() }, paymentMethod: { card: FRICTIONLESS } };
  const { status, headers, body } = await payer.partner.pay(payer.invoice, call);
  await payer.clearFaults();
  expect([status, headers['retry-after'], body.errors[0].errorReference]).toEqual([503, '5', '30']);
  expect(
    await processor.dataSource.query(`SELECT 1 FROM payments WHERE payable_id = $1`, [payer.invoice.payableId]),
  ).toEqual([]);
  expect((await payer.partner.pay(payer.invoice, call)).status).toBe(201);
});

test('a card that the vault rejects is refused, and no payment is recorded', async () => {
  jest.spyOn(processor.service.app.get(Acquirers).get('adyen'), 'storeCard').mockResolvedValue('invalid');
  const { status, body } = await payer.partner.pay(payer.invoice, { paymentMethod: { card: FRICTIONLESS } });
  expect([status, body.errors[0].errorReference]).toEqual([402, '13']);
});
