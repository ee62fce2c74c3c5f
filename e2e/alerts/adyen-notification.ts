/** Webhooks that Adyen itself could send, signed with the platform's key, for events that the emulator does not cause. */
import { createHmac } from 'node:crypto';
import type { AlertDrill } from './alert-drill.js';

export interface NotificationDraft {
  readonly eventCode: string;
  readonly pspReference: string;
  readonly merchantReference: string;
  readonly originalReference?: string;
  /** Cents. */
  readonly value: number;
  readonly success?: boolean;
  readonly additionalData?: Readonly<Record<string, string>>;
}

interface Sender {
  readonly isLive?: boolean;
  readonly password?: string;
}

const ACCOUNT = 'SvcDemo';

/** Sends the webhook, and returns the HTTP status of the answer. */
export async function notify(drill: AlertDrill, draft: NotificationDraft, sender: Sender = {}): Promise<number> {
  const user = drill.variable('payment-processor', 'SVC_ADYEN_TEST_WEBHOOK_USER');
  const password = sender.password ?? drill.variable('payment-processor', 'SVC_ADYEN_TEST_WEBHOOK_PASSWORD');
  const response = await fetch(`${drill.platform.demo.apiUrl}/v1/acquirers/adyen/test/notifications`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      live: String(sender.isLive === true),
      notificationItems: [{ NotificationRequestItem: sign(drill, draft) }],
    }),
  });
  await response.body?.cancel();
  return response.status;
}

function sign(drill: AlertDrill, { value, success = true, additionalData = {}, ...draft }: NotificationDraft): object {
  const item = {
    ...draft,
    amount: { currency: 'ZAR', value },
    eventDate: new Date().toISOString(),
    merchantAccountCode: ACCOUNT,
    paymentMethod: 'visa',
    reason: 'the drill',
    success: String(success),
  };
  const { originalReference = '' } = draft;
  const signed = [
    ...[item.pspReference, originalReference, item.merchantAccountCode, item.merchantReference],
    ...[item.amount.value, item.amount.currency, item.eventCode, item.success],
  ].join(':');
  const key = Buffer.from(drill.variable('simulated-acquirer', 'SVC_ADYEN_EMULATOR_HMAC_KEY'), 'hex');
  const hmacSignature = createHmac('sha256', key).update(signed, 'utf8').digest('base64');
  return { ...item, additionalData: { ...additionalData, hmacSignature } };
}
