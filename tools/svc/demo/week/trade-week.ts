/**
 * Trades the demo's week at its own times: payments, declines, refunds and webhooks, through the APIs of the running
 * platform, whose clock is moved meanwhile. So the ledger, the bank and all read models contain what they would contain
 * after a week, and nothing has to be written past the code that owns it.
 */
import { randomUUID } from 'node:crypto';
import { HostedGatewayClient, MerchantClient } from '@svc/sdk';
import { type CardEncryptionKey, encryptCard } from '@svc/sdk/card';
import { PATIENCE } from '../../base/patience.ts';
import { SvcError } from '../../base/svc-error.ts';
import { waitUntil } from '../../base/wait-until.ts';
import type { DemoMerchant } from '../seed.ts';
import type { MovedClock } from './moved-clock.ts';
import { type PlannedPayment, planWeek, type Visit } from './plan-week.ts';
import { WebhookReceiver } from './webhook-receiver.ts';

interface Addresses {
  readonly apiUrl: string;
  readonly gatewayUrl: string;
}

/** A page that waits for the payer to press Pay. */
interface OpenPage {
  readonly payment: PlannedPayment;
  press(): Promise<void>;
}

/** One after another would take longer than a start may. */
const PRESSED_TOGETHER = 5;
const TIMEOUT_MS = 25_000 * PATIENCE;
const SOON = { withinSeconds: 10 * PATIENCE, everyMilliseconds: 5 };

/** @returns the number of payments */
export async function tradeWeek(addresses: Addresses, merchant: DemoMerchant, clock: MovedClock): Promise<number> {
  const visits = planWeek(new Date());
  const accepting = await WebhookReceiver.start(200);
  const refusing = await WebhookReceiver.start(500);
  try {
    const { merchantId, apiKey } = merchant;
    const back = new MerchantClient({ apiUrl: addresses.apiUrl, merchantId, apiKey });
    let due: PlannedPayment[] = [];
    let paidCount = 0;
    let previous: Visit | undefined;
    const waitForWebhooks = () => waitUntil(() => accepting.orderCount + refusing.orderCount === paidCount, SOON);
    for (const visit of visits) {
      // The platform must not believe that a webhook of the evening has waited for the whole night.
      if (isNextDay(previous, visit)) await waitForWebhooks();
      clock.moveTo(visit.at);
      await giveBack(back, accepting, due);
      const pages = await openPages(addresses, merchant, visit, accepting.url, refusing.url);
      for (let i = 0; i < pages.length; i += PRESSED_TOGETHER) {
        const pressed = pages.slice(i, i + PRESSED_TOGETHER);
        clock.moveTo(pressed[0]!.payment.paidAt);
        await Promise.all(pressed.map((page) => page.press()));
        paidCount += pressed.length;
      }
      previous = visit;
      due = visit.payments.filter(({ refundAmount, isWebhookRefused }) => refundAmount > 0 && !isWebhookRefused);
    }
    await waitForWebhooks();
    return paidCount;
  } finally {
    accepting.stop();
    refusing.stop();
  }
}

function isNextDay(before: Visit | undefined, { at }: Visit): boolean {
  return before !== undefined && before.at.getUTCDate() !== at.getUTCDate();
}

/** The merchant knows the reference of a payment from its webhook. */
async function giveBack(
  merchant: MerchantClient,
  received: WebhookReceiver,
  due: readonly PlannedPayment[],
): Promise<void> {
  for (const { orderId, refundAmount: amount } of due) {
    await waitUntil(() => received.findReference(orderId) !== undefined, SOON);
    await merchant.refund(received.findReference(orderId)!, { idempotencyKey: orderId, amount });
  }
}

function openPages(
  { gatewayUrl }: Addresses,
  { merchantId, sites }: DemoMerchant,
  { payments }: Visit,
  acceptingUrl: string,
  refusingUrl: string,
): Promise<OpenPage[]> {
  return Promise.all(
    payments.map(async (payment) => {
      const { siteId, apiKey } = sites[payment.siteIndex]!;
      const { redirectUrl } = await new HostedGatewayClient({ gatewayUrl, merchantId, siteId, apiKey }).createSession({
        requestId: randomUUID(),
        merchantOrderId: payment.orderId,
        amount: payment.amount,
        currencyISOCode: 'ZAR',
        notificationUrl: payment.isWebhookRefused ? refusingUrl : acceptingUrl,
        returnUrl: `${gatewayUrl}/`,
        cancelUrl: `${gatewayUrl}/`,
        origin: 'karoo-coffee.example',
      });
      // The address for browsers may be that of the network, with a certificate that this program does not know.
      const { pathname, search } = new URL(redirectUrl);
      const { path, body } = await readPage(`${gatewayUrl}${pathname}${search}`, payment.cardNumber);
      return { payment, press: () => pressPay(`${gatewayUrl}${path}`, body) };
    }),
  );
}

/** Reads the payment page as its script does, and encrypts the card for it. */
async function readPage(url: string, cardNumber: string): Promise<{ path: string; body: string }> {
  const response = await fetch(url, {
    headers: { 'accept-encoding': 'identity' },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const page = await response.text();
  const read = (name: string): string => {
    const value = new RegExp(`data-${name}="([^"]*)"`).exec(page)?.[1];
    if (value === undefined) throw new SvcError(`the payment page of the demo has no data-${name}`);
    return value.replaceAll('&quot;', '"').replaceAll('&amp;', '&');
  };
  const paymentNumber = Number(read('payment-number'));
  const encryptedCard = await encryptCard({
    card: { cardNumber, cvv: '123', holderName: 'Thandi Nkosi', expiryMonth: 12, expiryYear: 2035 },
    binding: { sessionId: read('session-id'), paymentNumber, expiresAt: read('expires-at') },
    publicJwk: JSON.parse(read('encryption-key')) as CardEncryptionKey,
  });
  return {
    path: `${read('calls-path')}/payments`,
    body: JSON.stringify({ reference: randomUUID(), paymentNumber, encryptedCard }),
  };
}

async function pressPay(url: string, body: string): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const text = await response.text();
  if (!response.ok)
    throw new SvcError(`a payment of the demo was answered with ${response.status}: ${text.slice(0, 300)}`);
}
