/** Alerts of charges, captures, refunds, disputes and webhooks of acquirers. */
import { randomUUID } from 'node:crypto';
import { MerchantClient } from '@svc/sdk';
import { isCardNumberValid } from '@svc/sdk/card';
import { waitUntil } from '@svc/testing';
import { ADYEN_APPROVED } from '../../callers/adyen-emulator.js';
import { notify } from '../adyen-notification.js';
import type { AlertCase, Caused } from '../alert-case.js';
import type { AlertDrill } from '../alert-drill.js';

/** This number of failures opens the circuit of an acquirer. */
const FAILURES = 6;
/** Valid numbers of one range. */
const cardsOf = (range: string): string[] =>
  Array.from({ length: 80 }, (_, index) => `${range}${String(index).padStart(2, '0')}`).filter(isCardNumberValid);
/** Many, because a site at which most cards are approved is not under attack, and the other cases pay at it too. */
const STOLEN_CARDS = [1, 2, 3, 4, 5].flatMap((range) => cardsOf(`4111111${range}000000`));
const DAY_AND_AN_HOUR = `interval '25 hours'`;

export const today = (): string => new Date().toISOString().slice(0, 10);
const newReference = (): string => randomUUID().replaceAll('-', '').slice(0, 16).toUpperCase();

/** A payment that Adyen has captured. */
async function capture(drill: AlertDrill): Promise<{ reference: string; pspReference: string; value: number }> {
  const reference = await drill.pay();
  const { pspReference, order } = await drill.emulator.captured(reference);
  await waitUntil('the capture', 20_000, async () => {
    const rows = await drill.platform.sql(
      `SELECT 1 FROM payment_processor.captures c JOIN payment_processor.payments p USING (payment_id)
        WHERE p.payment_reference = $1 AND c.state = 'captured'`,
      [reference],
    );
    return rows.length > 0;
  });
  return { reference, pspReference, value: order.amount.value };
}

/** The acquirer does not respond while payers pay. */
async function silenceAcquirer(drill: AlertDrill, payments: number): Promise<Caused> {
  // A card with several payments without an outcome is refused, and does not reach the acquirer.
  const cards = cardsOf('55555555000000').slice(0, payments);
  const requests = (await Promise.all(cards.map((card) => drill.prepare(1, card)))).flat();
  drill.freeze('simulated-acquirer');
  await drill.send(requests);
  return {
    repair: () => drill.thaw('simulated-acquirer'),
    afterwards: async () => {
      // Time is moved: the next queries are due now.
      await drill.platform.sql(
        `UPDATE payment_processor.attempts SET next_query_at = now() WHERE next_query_at IS NOT NULL`,
      );
      await waitUntil('a payment to succeed', 90_000, async () => (await drill.pay()) !== '', 2_000);
    },
  };
}

interface RequestedRefund {
  readonly refundId: string;
  readonly pspReference: string;
  readonly value: number;
}

/** A refund that the platform has received, perhaps without an outcome. */
export async function requestRefund(drill: AlertDrill): Promise<RequestedRefund> {
  const { reference, pspReference } = await capture(drill);
  const { merchant } = drill.platform.site(0, 0);
  const client = new MerchantClient({
    apiUrl: drill.platform.demo.apiUrl,
    merchantId: merchant.merchantId,
    apiKey: merchant.apiKey,
    // The call returns a pending refund after 20 s.
    timeoutMs: 60_000,
  });
  const value = 1_000;
  const { refundReference: refundId } = await client.refund(reference, { idempotencyKey: randomUUID(), amount: value });
  return { refundId, pspReference, value };
}

async function refund(drill: AlertDrill): Promise<RequestedRefund> {
  const requested = await requestRefund(drill);
  await waitUntil('the refund', 30_000, async () => {
    const rows = await drill.platform.sql(
      `SELECT 1 FROM payment_processor.refunds WHERE refund_id = $1 AND state = 'succeeded'`,
      [requested.refundId],
    );
    return rows.length > 0;
  });
  return requested;
}

export const PAYMENT_CASES: readonly AlertCase[] = [
  {
    alert: 'SvcAcquirerCircuitOpen',
    how: 'the acquirer is frozen (SIGSTOP) while payers pay, each with another card',
    cause: (drill) => silenceAcquirer(drill, FAILURES),
  },
  {
    alert: 'SvcChargesNotAnswered',
    how: 'the acquirer is frozen (SIGSTOP) while payers pay',
    cause: (drill) => silenceAcquirer(drill, FAILURES),
  },
  {
    alert: 'SvcPaymentsUnresolved',
    how: 'the acquirer is frozen (SIGSTOP) for more than a minute after a payer has paid',
    cause: (drill) => silenceAcquirer(drill, 1),
  },
  {
    alert: 'SvcPaymentIncident',
    how: 'Adyen reports a second authorisation of a paid payment',
    cause: async (drill) => {
      const { reference, value } = await capture(drill);
      await notify(drill, {
        eventCode: 'AUTHORISATION',
        pspReference: newReference(),
        merchantReference: reference,
        value,
      });
      return { values: { 'YYYY-MM-DD': today() } };
    },
  },
  {
    alert: 'SvcAcquirerReportIncident',
    how: 'Adyen sends a webhook of live mode to the endpoint of test mode',
    cause: async (drill) => {
      const { reference, pspReference, value } = await capture(drill);
      await notify(
        drill,
        { eventCode: 'CAPTURE', pspReference: `${pspReference}L`, merchantReference: reference, value },
        { isLive: true },
      );
      return {};
    },
  },
  {
    alert: 'SvcAcquirerNotificationsRefused',
    how: 'Adyen sends six webhooks with another password',
    cause: async (drill) => {
      for (let count = 0; count < 6; count++)
        await notify(
          drill,
          { eventCode: 'CAPTURE', pspReference: newReference(), merchantReference: 'none', value: 1 },
          { password: 'rotated-on-one-side' },
        );
      return {};
    },
  },
  {
    alert: 'SvcCaptureFailed',
    how: 'the card scheme rejects a capture',
    cause: async (drill) => {
      const { pspReference } = await capture(drill);
      await drill.emulator.failCapture(pspReference);
      return {};
    },
  },
  {
    alert: 'SvcCaptureIncident',
    how: 'the webhook of a capture is missing for a day; time is moved: the capture is made a day older',
    cause: async (drill) => {
      await drill.emulator.withholdWebhooks('CAPTURE', 1);
      const reference = await drill.pay();
      const isRequested = async (): Promise<boolean> => {
        const rows = await drill.platform.sql(
          `UPDATE payment_processor.captures c SET created_at = c.created_at - ${DAY_AND_AN_HOUR}, next_request_at = now()
             FROM payment_processor.payments p
            WHERE p.payment_id = c.payment_id AND p.payment_reference = $1 AND c.state = 'requested' RETURNING 1`,
          [reference],
        );
        return rows.length > 0;
      };
      await waitUntil('the request to capture', 20_000, isRequested);
      return { repair: () => drill.emulator.releaseWebhooks('CAPTURE') };
    },
  },
  {
    alert: 'SvcReversalUnconfirmed',
    how: 'Adyen authorises a payment that has failed, and does not report the release; time is moved: the request is made a day older',
    cause: async (drill) => {
      await drill.emulator.withholdWebhooks('TECHNICAL_CANCEL', 10);
      const [request] = await drill.prepare(1, ADYEN_APPROVED, 'DECLINED');
      await drill.send([request!]);
      const reference = await drill.referenceOf(request!);
      const [payment] = await waitUntil('the payment at Adyen', 20_000, async () => {
        const payments = await drill.emulator.payments(reference);
        return payments.length > 0 && payments;
      });
      const { pspReference, order } = payment!;
      const value = order.amount.value;
      await notify(drill, { eventCode: 'AUTHORISATION', pspReference, merchantReference: reference, value });
      await waitUntil('the request for the reversal', 30_000, async () => {
        const rows = await drill.platform.sql(
          `UPDATE payment_processor.reversals r SET requested_at = r.requested_at - ${DAY_AND_AN_HOUR}, next_request_at = now()
             FROM payment_processor.attempts a JOIN payment_processor.payments p USING (payment_id)
            WHERE a.attempt_id = r.attempt_id AND p.payment_reference = $1 AND r.confirmed_at IS NULL RETURNING 1`,
          [reference],
        );
        return rows.length > 0;
      });
      return {
        repair: () =>
          notify(drill, {
            eventCode: 'TECHNICAL_CANCEL',
            pspReference: newReference(),
            originalReference: pspReference,
            merchantReference: reference,
            value,
          }),
      };
    },
  },
  {
    alert: 'SvcRefundIncident',
    how: 'Adyen reports that a refund was declined, after it had succeeded',
    cause: async (drill) => {
      const { refundId, pspReference, value } = await refund(drill);
      await notify(drill, {
        eventCode: 'REFUND',
        pspReference: newReference(),
        originalReference: pspReference,
        merchantReference: refundId,
        value,
        success: false,
      });
      return {};
    },
  },
  {
    alert: 'SvcDisputeIncident',
    how: 'Adyen reports a chargeback of more than the payment',
    cause: async (drill) => {
      const { reference, pspReference, value } = await capture(drill);
      await notify(drill, {
        eventCode: 'CHARGEBACK',
        pspReference: newReference(),
        originalReference: pspReference,
        merchantReference: reference,
        value: value + 1,
        additionalData: { disputeStatus: 'Unresponded' },
      });
      return {};
    },
  },
  {
    alert: 'SvcDisputeDeadline',
    how: 'a chargeback whose merchant must respond within a day; time is moved: the deadline is made earlier',
    cause: async (drill) => {
      const { reference } = await capture(drill);
      const [payment] = await drill.emulator.payments(reference);
      await drill.emulator.dispute(payment!, 'CHARGEBACK');
      await waitUntil('the dispute', 20_000, async () => {
        const rows = await drill.platform.sql(
          `UPDATE payment_processor.disputes d SET respond_by = now() + interval '1 day'
             FROM payment_processor.payments p WHERE p.payment_id = d.payment_id AND p.payment_reference = $1 RETURNING 1`,
          [reference],
        );
        return rows.length > 0;
      });
      return { repair: () => drill.emulator.dispute(payment!, 'DISPUTE_DEFENSE_PERIOD_ENDED') };
    },
  },
  {
    alert: 'SvcSiteAttacked',
    how: 'cards are declined at a site; its limit is six declines in ten minutes',
    cause: async (drill) => {
      const { merchant, siteId } = drill.platform.site(0, 0);
      const limits = [
        '--site-10-minutes=6',
        '--address-hour=100',
        '--range-hour=100',
        '--card-day=100',
        '--card-30-days=100',
      ];
      await drill.admin('fraud', 'limits', String(merchant.merchantId), 'on', ...limits);
      // A card counts once, however often it is declined.
      const requests = await Promise.all(STOLEN_CARDS.map((card) => drill.prepare(1, card, 'DECLINED')));
      await drill.send(requests.flat());
      return { values: { SITE: String(siteId) } };
    },
  },
];
