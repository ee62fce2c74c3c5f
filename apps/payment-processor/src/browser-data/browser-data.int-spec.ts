/** Partners' payments at an acquirer that needs the data of the payer's browser, against the emulator of Adyen. */
import { randomUUID } from 'node:crypto';
import {
  BROWSER,
  BrowserPayer,
  CHALLENGED,
  FRICTIONLESS,
  type PartnersPayment,
  PAYER_ADDRESS,
  RETURN_URL,
  USER_AGENT,
} from '../../test/adyen/browser-payer.js';
import type { Processor } from '../../test/processor.js';
import { Acquirers } from '../acquirers/acquirers.js';
import { AcquirerPermits } from '../acquirers/availability/acquirer-permits.js';

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

async function expectNothingCharged(payment: PartnersPayment): Promise<void> {
  expect(await payer.findAtAdyen(payment)).toEqual({ payments: [], challenges: [] });
  expect(await payer.readAttempts(payment)).toEqual([]);
}

test('our page shows the merchant and the amount, and its form charges the card with the data of the browser', async () => {
  const charge = jest.spyOn(processor.service.app.get(Acquirers).get('adyen'), 'charge');
  const payment = await payer.pay(FRICTIONLESS);
  expect(payment.verificationUrl).toMatch(/^https:\/\/api\.svc\.example\/v1\/verifications\/\w{18}\/start\?signature=/);
  const page = await payer.open(payment.verificationUrl);
  expect(page.status).toBe(200);
  expect(page.body).toContain('You pay <strong>R 123.45</strong> to <strong>Karoo Books</strong>.');
  await expectNothingCharged(payment);

  for (let presses = 0; presses < 2; presses++)
    expect(await payer.press(payment)).toMatchObject({ status: 303, location: RETURN_URL });
  expect(await payer.outcome()).toBe('success');
  const { payments } = await payer.findAtAdyen(payment);
  expect(payments).toMatchObject([{ state: 'authorised', order: { shopperInteraction: 'Ecommerce' } }]);
  expect(await payer.readAttempts(payment)).toEqual(['approved']);
  expect(charge.mock.calls.map(([sent]) => [sent.pageOrigin, sent.payer])).toEqual([
    [
      'https://api.svc.example',
      {
        address: PAYER_ADDRESS,
        browser: { ...BROWSER, userAgent: USER_AGENT, acceptHeader: 'text/html,*/*;q=0.8', javaScriptEnabled: true },
      },
    ],
  ]);
  const events = await processor.dataSource.query<{ type: string; version: number }[]>(
    `SELECT type, aggregate_version AS version FROM event_log WHERE payload->>'paymentReference' = $1 ORDER BY position`,
    [payment.paymentReference],
  );
  expect(events.map(({ type, version }) => `${type} ${version}`)).toEqual([
    'payment.processing.v1 1',
    'payment.verification-required.v1 2',
    'payment.processing.v1 3',
    'payment.succeeded.v1 4',
  ]);
});

test('a payer who passes the bank’s challenge returns to the page of the partner, and is charged once', async () => {
  const payment = await payer.pay(CHALLENGED);
  const { location } = await payer.press(payment);
  expect(location).toContain('/checkoutshopper/threeDS/redirect/');
  expect(await payer.repeat()).toMatchObject({ status: 'verificationRequired', verificationUrl: location });
  // After a reload, from another tab, and with the back button and a second press, the payer gets the same challenge.
  for (const again of [
    await payer.open(payment.verificationUrl),
    await payer.press(payment),
    await payer.press(payment),
  ])
    expect(again).toMatchObject({ status: 303, location });

  processor.clock.advance(1_000);
  const bankReturnUrl = await payer.answerBank(location, 'pass');
  expect(await payer.open(bankReturnUrl)).toMatchObject({ status: 303, location: RETURN_URL });
  // While the result waits for its submission, our page does not lead to the bank again.
  expect(await payer.press(payment)).toMatchObject({ status: 303, location: RETURN_URL });
  await processor.runCleanup();
  expect(await payer.outcome()).toBe('success');
  const { payments, challenges } = await payer.findAtAdyen(payment);
  expect([payments.map(({ state }) => state), challenges.length]).toEqual([['authorised'], 1]);
  expect(await payer.readAttempts(payment)).toEqual(['notAttempted', 'approved']);
  // Afterwards our page leads to the page of the partner, and charges nothing.
  for (const again of [await payer.open(payment.verificationUrl), await payer.press(payment)])
    expect(again).toMatchObject({ status: 303, location: RETURN_URL });
  expect((await payer.findAtAdyen(payment)).payments).toHaveLength(1);
});

test('a payment whose challenge fails is not charged; without a page of the partner, our page shows the outcome', async () => {
  const payment = await payer.pay(CHALLENGED, { returnUrl: undefined });
  const { location } = await payer.press(payment);
  const bankReturnUrl = await payer.answerBank(location, 'fail');
  processor.clock.advance(1_000);
  const returned = await payer.open(bankReturnUrl);
  expect([returned.status, returned.body]).toEqual([200, expect.stringContaining('Your payment was not completed')]);
  expect(await payer.outcome()).toBe('failed 16');
  const again = await payer.open(payment.verificationUrl);
  expect([again.status, again.body]).toEqual([200, expect.stringContaining('Your payment was not completed')]);
});

test('a payer who leaves the bank’s page is not charged, and a late result is not submitted', async () => {
  const payment = await payer.pay(CHALLENGED);
  const { location } = await payer.press(payment);
  processor.clock.advance(900_000);
  await payer.open(await payer.answerBank(location, 'pass'));
  await processor.runCleanup();
  expect(await payer.outcome()).toBe('failed 17');
  expect((await payer.findAtAdyen(payment)).payments).toEqual([]);
});

test('a payer has 15 minutes until our page is opened; afterwards a press, a reload or the job fails the payment', async () => {
  const pressed = await payer.pay(FRICTIONLESS);
  processor.clock.advance(899_000);
  await processor.runCleanup();
  expect((await payer.open(pressed.verificationUrl)).status).toBe(200);
  processor.clock.advance(1_000);
  expect(await payer.press(pressed)).toMatchObject({ status: 303, location: RETURN_URL });
  expect(await payer.outcome()).toBe('failed 17');

  const reloaded = await payer.pay(FRICTIONLESS);
  processor.clock.advance(900_000);
  expect(await payer.open(reloaded.verificationUrl)).toMatchObject({ status: 303, location: RETURN_URL });
  expect(await payer.outcome()).toBe('failed 17');

  const abandoned = await payer.pay(FRICTIONLESS);
  processor.clock.advance(900_000);
  await processor.runCleanup();
  expect(await payer.outcome()).toBe('failed 17');
  for (const payment of [pressed, reloaded, abandoned]) await expectNothingCharged(payment);
});

test('of several simultaneous presses one charges, and all lead to the same page', async () => {
  const payment = await payer.pay(CHALLENGED);
  const pages = await Promise.all([payer.press(payment), payer.press(payment), payer.press(payment)]);
  expect(new Set(pages.map(({ location }) => location)).size).toBe(1);
  expect(pages[0].location).toContain('/checkoutshopper/');
  expect((await payer.findAtAdyen(payment)).challenges).toHaveLength(1);
  expect(await payer.readAttempts(payment)).toEqual(['notAttempted']);
});

test('a refusal of the bank without a challenge fails the payment', async () => {
  const payment = await payer.pay({ ...FRICTIONLESS, holderName: 'NOT_ENOUGH_BALANCE' });
  expect(await payer.press(payment)).toMatchObject({ status: 303, location: RETURN_URL });
  expect(await payer.outcome()).toBe('failed 11');
});

test('without a script the payer can continue, and the bank decides with less data', async () => {
  const approved = await payer.pay(FRICTIONLESS);
  expect((await payer.open(approved.verificationUrl)).body).toContain('You can continue without JavaScript.');
  expect(await payer.open(approved.verificationUrl, { browser: '' })).toMatchObject({
    status: 303,
    location: RETURN_URL,
  });
  expect(await payer.outcome()).toBe('success');
  for (const form of [{}, { browser: '{"language": ' }, { browser: '[]' }] as Record<string, string>[]) {
    await payer.useNewInvoice();
    const declined = await payer.pay(CHALLENGED);
    await payer.open(declined.verificationUrl, form);
    expect(await payer.outcome()).toBe('failed 16');
  }
});

test('a stored card is charged, and stays stored; a card that was deleted meanwhile is not charged', async () => {
  const { cvv: _, ...card } = CHALLENGED;
  const { token } = (await payer.partner.call('POST', '/v1/cards', card)).body as { token: string };
  await payer.deleteCards();
  const stored = await payer.countStoredCards();
  const paid = await payer.pay({ token });
  const { location } = await payer.press(paid);
  await payer.open(await payer.answerBank(location, 'pass'));
  await processor.runCleanup();
  await payer.deleteCards();
  expect(await payer.countStoredCards()).toBe(stored);

  await payer.useNewInvoice();
  const later = await payer.pay({ token });
  expect((await payer.partner.call('DELETE', `/v1/cards/${token}`)).status).toBe(204);
  expect(await payer.press(later)).toMatchObject({ status: 303, location: RETURN_URL });
  expect(await payer.outcome()).toBe('failed 13');
  await expectNothingCharged(later);
});

test('if another payment was made meanwhile, or the invoice was closed, nothing is charged', async () => {
  const payment = await payer.pay(FRICTIONLESS);
  const { request } = payer;
  await payer.press(await payer.pay(FRICTIONLESS));
  expect(await payer.outcome()).toBe('success');
  expect(await payer.press(payment)).toMatchObject({ status: 303, location: RETURN_URL });
  payer.request = request;
  expect(await payer.outcome()).toBe('failed 20');

  await payer.useNewInvoice();
  const closed = await payer.pay(FRICTIONLESS);
  await processor.closePayable(payer.invoice);
  expect(await payer.open(closed.verificationUrl)).toMatchObject({ status: 303, location: RETURN_URL });
  expect(await payer.outcome()).toBe('failed 20');
  for (const each of [payment, closed]) await expectNothingCharged(each);
});

test('while another payment is in progress, or the bank cannot be reached, nothing changes and the payer can try again', async () => {
  const payment = await payer.pay(FRICTIONLESS);
  const setPayable = (state: string, holder: string | null): Promise<unknown> =>
    processor.dataSource.query(`UPDATE payables SET state = $2, holder = $3 WHERE payable_id = $1`, [
      payer.invoice.payableId,
      state,
      holder,
    ]);
  await setPayable('reserved', randomUUID());
  const busy = await payer.press(payment);
  expect([busy.status, busy.body]).toEqual([503, expect.stringContaining('Another payment for this purchase')]);
  await setPayable('open', null);

  const away = [503, expect.stringContaining('The bank cannot be reached.')];
  const take = jest.spyOn(processor.service.app.get(AcquirerPermits), 'take');
  const permitOfOpenCircuit = { isCircuitOpen: true, release: () => undefined, [Symbol.dispose]: () => undefined };
  for (const permit of [undefined, permitOfOpenCircuit]) {
    take.mockResolvedValueOnce(permit);
    const { status, body } = await payer.press(payment);
    expect([status, body]).toEqual(away);
  }
  const supportsMode = jest
    .spyOn(processor.service.app.get(Acquirers).get('adyen'), 'supportsMode')
    .mockReturnValueOnce(false);
  const { status, body } = await payer.press(payment);
  expect([status, body]).toEqual(away);
  supportsMode.mockRestore();
  await expectNothingCharged(payment);
  await payer.press(payment);
  expect(await payer.outcome()).toBe('success');
});

test('a charge whose response was lost is repeated under its key', async () => {
  const payment = await payer.pay(CHALLENGED);
  await payer.addFault({ type: 'lose-response', operation: 'payments' });
  const { location } = await payer.press(payment);
  expect(location).toContain('/checkoutshopper/');
  expect((await payer.findAtAdyen(payment)).challenges).toHaveLength(1);
});

test('after a crash during the charge no press charges again, and the attempt is abandoned', async () => {
  const payment = await payer.pay(FRICTIONLESS);
  const charge = jest
    .spyOn(processor.service.app.get(Acquirers).get('adyen'), 'charge')
    .mockRejectedValueOnce(new Error('simulated crash'));
  expect((await payer.press(payment)).status).toBe(500);
  expect(await payer.press(payment)).toMatchObject({ status: 303, location: RETURN_URL });
  expect(charge).toHaveBeenCalledTimes(1);
  expect(await payer.readAttempts(payment)).toEqual(['started']);
  processor.clock.advance(900_000);
  await processor.recoverAttempts();
  expect(await payer.outcome()).toBe('failed 31');
  expect(await payer.readAttempts(payment)).toEqual(['notAttempted']);
});
