/**
 * `./svc up --acquirer adyen-emulator`: payers pay the demo merchants through the emulator of Adyen, embedded and
 * distributed. A later start with the simulated bank keeps the existing payments at Adyen.
 */
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { MerchantClient, PartnerClient, type PaymentNotification } from '@svc/sdk';
import { PATIENCE, waitUntil } from '@svc/testing';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import {
  closeContext,
  fillCard,
  holdReturn,
  payButton,
  recordPageErrors,
  screenshot,
  startBrowser,
  waitForHeading,
} from './browser/browser.js';
import { PageStates } from './browser/page-states.js';
import { ADYEN_APPROVED, ADYEN_CARD, ADYEN_VERIFIED, AdyenEmulator } from './callers/adyen-emulator.js';
import { BackOffice } from './callers/back-office.js';
import { PartnerPayer } from './callers/partner-payer.js';
import { preparePayRequest, sendPayRequest } from './callers/payer.js';
import { createInvoice } from './callers/till.js';
import { waitUntilSettled } from './consistency/reconciled.js';
import { Platform } from './platform/platform.js';

const SHOP = 'http://127.0.0.1:9';
const BANK = 'Is this payment yours?';
/** The merchant account of the demo merchants at the emulator. */
const DEMO_ACCOUNT = 'SvcDemo';
const TWO_DAYS_MS = 2 * 24 * 3_600_000;

let platform: Platform;
let emulator: AdyenEmulator;
let browser: Browser;
let backOffice: BackOffice;
/** The notifications of the site's stream. */
let streamed: PaymentNotification[];
const endOfStream = new AbortController();
/** Each session has a different amount. */
let amount = 30_000;
/** A captured payment whose only refund has failed. */
let paidAtAdyen: { readonly paymentReference: string; readonly amount: number };

beforeAll(async () => {
  const settings = { SVC_RECONCILIATION_GRACE_MS: '500' };
  [browser, platform] = await Promise.all([
    startBrowser(),
    Platform.start('adyen', settings, 'embedded', ['--acquirer', 'adyen-emulator']),
  ]);
  emulator = new AdyenEmulator(platform.adyenEmulatorUrl);
  backOffice = await BackOffice.start(platform, platform.site(0, 0));
});
afterAll(async () => {
  endOfStream.abort();
  backOffice?.stop();
  await browser?.close();
  await platform?.stop();
});

function merchantClient(): MerchantClient {
  const { merchant } = platform.site(0, 0);
  return new MerchantClient({
    apiUrl: platform.demo.apiUrl,
    merchantId: merchant.merchantId,
    apiKey: merchant.apiKey,
    timeoutMs: Math.min(60_000 * PATIENCE, 120_000),
  });
}

async function openStream(): Promise<void> {
  const { siteId } = platform.site(0, 0);
  const { promise: opened, resolve: onOpen } = Promise.withResolvers<string>();
  streamed = [];
  const read = async (): Promise<void> => {
    for await (const one of merchantClient().site(siteId).stream({ onOpen, signal: endOfStream.signal }))
      streamed.push(one);
  };
  void read().catch((error: unknown) => {
    if (!endOfStream.signal.aborted) console.error(error);
  });
  await opened;
}

/** Numbers of lost responses. */
const LOST_RESPONSES = {
  embedded: [['the first response of Adyen was lost, because the repeated request returns it', 1]],
  distributed: [['all responses of Adyen were lost, because its webhook reports the payment', 100]],
} as const;

/**
 * Makes the settlement report of all payments so far. The reconciliation then compares them with Adyen and with the
 * report, so it also shows a difference that an earlier test has left.
 */
async function expectSettled(): Promise<void> {
  await emulator.closeBatch(DEMO_ACCOUNT);
  await waitUntilSettled(platform);
}

/** The state of the session's newest payment, and the reference under which Adyen knows it. */
async function newestPayment(url: string): Promise<{ paymentReference: string; state: string; error: string | null }> {
  const [row] = await platform.sql<{ paymentReference: string; state: string; error: string | null }>(
    `SELECT payment_reference AS "paymentReference", state, errors->0->>'errorReference' AS error FROM payment_processor.payments
      WHERE payable_id = $1 ORDER BY accepted_at DESC LIMIT 1`,
    [new URL(url).searchParams.get('sessionId')],
  );
  if (row === undefined) throw new Error('The session has no payment.');
  return row;
}

/** Lets the 15 minutes of a verification pass. */
async function expireVerification(paymentReference: string): Promise<void> {
  await platform.sql(
    `UPDATE payment_processor.verifications v SET expires_at = $2 FROM payment_processor.payments p
      WHERE p.payment_id = v.payment_id AND p.payment_reference = $1`,
    [paymentReference, new Date(Date.now() - 1_000)],
  );
}

it('./svc shows the emulator, and another acquirer needs ./svc down first', async () => {
  const page = `${platform.adyenEmulatorUrl}/emulator/`;
  expect(await platform.svc('status')).toMatchObject({ code: 0, output: expect.stringContaining(page) as string });
  const again = await platform.svc('up', '-d', '--acquirer', 'adyen-emulator');
  expect(again).toMatchObject({ code: 0, output: expect.stringContaining(page) as string });
  const other = await platform.svc('up', '-d');
  expect(other).toMatchObject({ code: 1, output: expect.stringContaining('with the emulator of Adyen') as string });
  expect(await (await fetch(page)).text()).toContain('Emulator of Adyen');
});

it('a customer of a partner pays with a stored card, until the card is deleted', async () => {
  const { apiUrl, partner } = platform.demo;
  const { service } = new PartnerClient({ apiUrl, ...partner });
  const stored = { cardNumber: '4111111111111111', holderName: 'T Nkosi', expiryMonth: 3, expiryYear: 2030 };
  const { token } = await service.storeCard(stored);
  const payWithToken = async () => {
    const { code } = await createInvoice(platform, { amount: 8_950 });
    const customer = { id: randomUUID() };
    return service.pay({ reference: randomUUID(), code, customer, amount: 8_950, cardToken: token });
  };
  const { paymentReference, verificationUrl } = await payWithToken();
  // A partner's payment has no browser, so its payer opens our page, which sends the data of the browser to Adyen.
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(verificationUrl!);
  await page.getByRole('button', { name: 'Continue' }).click();
  await waitForHeading(page, 'Your payment is complete');
  await closeContext(context);
  await emulator.captured(paymentReference);
  await service.deleteCard(token);
  await expect(payWithToken()).rejects.toThrow(/There is no such card/);
  await waitUntil('the end of the token', 20_000, async () => {
    const { storedCards } = await emulator.state();
    return storedCards.every(({ isDeleted }) => isDeleted);
  });
});

/** The distributed platform repeats only the cases in which messages between services or the routes of `front` matter. */
describe.each(['embedded', 'distributed'] as const)('%s,', (mode) => {
  beforeAll(async () => {
    if (mode !== platform.mode) await platform.switchTo(mode);
    await openStream();
  });
  afterAll(() => expectSettled());

  describe('a payer', () => {
    let context: BrowserContext;
    let page: Page;
    let url: string;
    let pageErrors: string[];

    beforeEach(async () => {
      context = await browser.newContext({ locale: 'en-ZA', viewport: { width: 390, height: 844 } });
      pageErrors = recordPageErrors(context);
      url = await new PageStates(platform).open({ amount: ++amount });
      page = await context.newPage();
      await holdReturn(page, SHOP);
      await page.goto(url);
    });
    afterEach(() => closeContext(context));

    async function pay(cardNumber: string, holderName?: string): Promise<void> {
      await waitForHeading(page, 'Pay by card');
      await fillCard(page, cardNumber);
      await page.getByLabel('Expiry date').fill(ADYEN_CARD.expiry);
      await page.getByLabel('CVV').fill(ADYEN_CARD.cvv);
      if (holderName !== undefined) await page.getByLabel('Name on card').fill(holderName);
      await payButton(page).click();
    }
    const seesText = (text: string): Promise<void> =>
      page
        .getByText(text)
        .first()
        .waitFor({ state: 'visible', timeout: 30_000 * PATIENCE });
    const answerBank = (name: string): Promise<void> => page.getByRole('button', { name }).click();

    it('is declined, pays with another card, and Adyen captures the payment once', async () => {
      await pay(ADYEN_APPROVED, 'DECLINED');
      await seesText('Your bank declined the payment');
      await pay(ADYEN_APPROVED);
      await waitForHeading(page, 'Payment successful');
      const { paymentReference } = await newestPayment(url);
      expect((await emulator.captured(paymentReference)).order.amount.value).toBe(amount);
      expect(pageErrors).toEqual([]);
    });

    it('pays after 3-D Secure, and only after it was passed', async () => {
      await pay(ADYEN_VERIFIED);
      await waitForHeading(page, BANK);
      await screenshot(page, `adyen-3d-secure-${mode}`);
      await answerBank('Fail the authentication');
      await seesText('Your bank could not verify you');
      const refused = await newestPayment(url);
      await pay(ADYEN_VERIFIED);
      await waitForHeading(page, BANK);
      await answerBank('Pass the authentication');
      await waitForHeading(page, 'Payment successful');
      const { paymentReference } = await newestPayment(url);
      await emulator.captured(paymentReference);
      expect(await emulator.payments(refused.paymentReference)).toMatchObject([{ state: 'refused' }]);
      expect(pageErrors).toEqual([]);
    });

    it.each(LOST_RESPONSES[mode])('pays once although %s', async (_what, lostResponses) => {
      await emulator.loseResponses('payments', lostResponses);
      await pay(ADYEN_APPROVED);
      await waitForHeading(page, 'Payment successful');
      await emulator.clearFaults();
      const { paymentReference } = await newestPayment(url);
      await emulator.captured(paymentReference);
    });

    it('disputes a payment: the site receives each stage, by webhook and on the stream', async () => {
      await pay(ADYEN_APPROVED);
      await waitForHeading(page, 'Payment successful');
      const { paymentReference } = await newestPayment(url);
      const payment = await emulator.captured(paymentReference);
      const stages = [
        ['REQUEST_FOR_INFORMATION', 'inquiry'],
        ['NOTIFICATION_OF_CHARGEBACK', 'opened'],
        ['CHARGEBACK', 'debited'],
        ['CHARGEBACK_REVERSED', 'reversed'],
        ['SECOND_CHARGEBACK', 'debited'],
        ['PREARBITRATION_LOST', 'lost'],
      ] as const;
      for (const [eventCode, stage] of stages) {
        await emulator.dispute(payment, eventCode);
        await waitUntil(`the stage ${stage}`, 20_000, async () => {
          const [dispute] = await merchantClient().disputes(paymentReference);
          return dispute?.stage === stage;
        });
      }
      // A webhook may arrive more than once, with the same id.
      const receivedStages = (notifications: readonly PaymentNotification[]) =>
        [...new Map(notifications.map((one) => [one.id, one])).values()].flatMap((one) =>
          one.type === 'dispute' && one.payment.paymentReference === paymentReference ? [one.dispute.stage] : [],
        );
      // In any order. The stage `debited` has two notifications.
      const expected = stages.map(([, stage]) => stage).toSorted();
      for (const [name, received] of [
        ['webhook', backOffice.notifications],
        ['stream', streamed],
      ] as const)
        await waitUntil(`the ${name} of each stage`, 20_000, () =>
          Promise.resolve(isDeepStrictEqual(receivedStages(received).toSorted(), expected)),
        );
    });

    it('gets a refund that fails two days later: the site is notified of the failure', async () => {
      await pay(ADYEN_APPROVED);
      await waitForHeading(page, 'Payment successful');
      const { paymentReference } = await newestPayment(url);
      const payment = await emulator.captured(paymentReference);
      // A refund before the capture is confirmed would wait for ten seconds.
      await waitUntil('the confirmation of the capture', 20_000, async () => {
        const rows = await platform.sql(
          `SELECT FROM payment_processor.captures c JOIN payment_processor.payments p USING (payment_id)
          WHERE p.payment_reference = $1 AND c.state = 'captured'`,
          [paymentReference],
        );
        return rows.length === 1;
      });
      const refundRequest = { amount, idempotencyKey: randomUUID() };
      const { refundReference } = await merchantClient().refund(paymentReference, refundRequest);
      const waitForStatus = (status: string) =>
        waitUntil(`the refund to be ${status}`, 20_000, async () => {
          const refunds = await merchantClient().refunds(paymentReference);
          return refunds.find((one) => one.refundReference === refundReference)?.status === status;
        });
      await waitForStatus('succeeded');
      // A report contains a refund that fails only if it failed after the batch.
      await emulator.closeBatch(DEMO_ACCOUNT);
      await emulator.advanceClock(TWO_DAYS_MS);
      await emulator.failRefund(payment);
      await waitForStatus('failed');
      await waitUntil('the webhook of the failed refund', 20_000, () =>
        Promise.resolve(
          backOffice.notifications.some(
            (one) =>
              one.type === 'refund' && one.refund.refundReference === refundReference && one.refund.status === 'failed',
          ),
        ),
      );
      paidAtAdyen = { paymentReference, amount };
    });

    if (mode === 'distributed') return;

    it('closes the tab of 3-D Secure, and nothing is authorised: the payment fails after 15 minutes', async () => {
      await pay(ADYEN_VERIFIED);
      await waitForHeading(page, BANK);
      await page.close();
      const { paymentReference, state } = await newestPayment(url);
      expect(state).toBe('verificationRequired');
      await expireVerification(paymentReference);
      const failed = await waitUntil('the end of the payment', 20_000, async () => {
        const payment = await newestPayment(url);
        return payment.state === 'failed' ? payment : undefined;
      });
      expect(failed.error).toBe('17');
      expect(await emulator.payments(paymentReference)).toEqual([]);
      page = await context.newPage();
      await page.goto(url);
      await seesText('The verification was not finished');
    });
  });

  describe('the payer of a partner', () => {
    let payer: PartnerPayer;
    let paymentReference: string;

    beforeEach(async () => {
      payer = await PartnerPayer.pay(platform, browser, { cardNumber: ADYEN_VERIFIED, amount: ++amount });
      ({ paymentReference } = payer.payment);
    });
    afterEach(async () => {
      await payer.leave();
      expect(payer.pageErrors).toEqual([]);
    });

    const answerBank = async (name: string): Promise<void> => {
      await payer.continueToBank(BANK);
      await screenshot(payer.page, `adyen-partner-3d-secure-${mode}`);
      expect(await payer.outcome()).toBe('verificationRequired');
      expect(await emulator.payments(paymentReference)).toEqual([]);
      await payer.page.getByRole('button', { name }).click();
      await payer.returnsToPartner();
    };

    it('passes 3-D Secure and returns to the partner: Adyen captures the payment once', async () => {
      await answerBank('Pass the authentication');
      await payer.hasOutcome('success');
      expect((await emulator.captured(paymentReference)).order.amount.value).toBe(amount);
    });

    if (mode === 'distributed') return;

    it('fails 3-D Secure and returns to the partner: nothing is authorised', async () => {
      await answerBank('Fail the authentication');
      await payer.hasOutcome('failed 16');
      expect(await emulator.payments(paymentReference)).toMatchObject([{ state: 'refused' }]);
    });

    it.each(['our page', 'the page of the bank'])(
      'closes the tab with %s: nothing is authorised, and the payment fails after 15 minutes',
      async (where) => {
        if (where !== 'our page') await payer.continueToBank(BANK);
        await payer.page.close();
        await expireVerification(paymentReference);
        await payer.hasOutcome('failed 17');
        await payer.openLink();
        await payer.returnsToPartner();
        expect(await emulator.payments(paymentReference)).toEqual([]);
      },
    );
  });
});

it('after a start with the simulated bank, new payments go there, and a refund of an older payment goes to Adyen', async () => {
  await platform.switchTo('embedded', []);
  const { paymentReference: earlier, amount: paid } = paidAtAdyen;
  const { refundReference } = await merchantClient().refund(earlier, { amount: paid, idempotencyKey: randomUUID() });
  await waitUntil('the refund to succeed at Adyen', 20_000, async () => {
    const refunds = await merchantClient().refunds(earlier);
    return refunds.find((refund) => refund.refundReference === refundReference)?.status === 'succeeded';
  });
  const url = await new PageStates(platform).open({ amount: ++amount });
  const { state } = await sendPayRequest(platform.demo.gatewayUrl, await preparePayRequest(url));
  expect(state).toBe('succeeded');
  const { paymentReference } = await newestPayment(url);
  expect(platform.charges().filter((charge) => charge.paymentReference === paymentReference)).toHaveLength(1);
  expect(await emulator.payments(paymentReference)).toEqual([]);
});
