/** The system that is measured: it sends a webhook for each payment to the merchant. */
import { randomBytes, randomUUID } from 'node:crypto';
import type { MerchantEndpoint } from '../hosted-payment/merchant-endpoint.ts';
import type { ProcessGroups } from '../measuring/cpu.ts';

/** Number of payments in each batch that a sender gets. */
export const BATCH_SIZE = 200;
/** Number of requests that each sender sends at the same time. */
export const CONCURRENCY = 50;

export interface RunningWebhookSender {
  /** Secret with which the merchant verifies signatures: `whsec_…` */
  readonly secret: string;
  readonly groups: ProcessGroups;
  /** Requests webhooks for `count` payments to the endpoint. Does not wait until all are sent. */
  send(endpoint: MerchantEndpoint, count: number): Promise<void>;
  stop(): Promise<void>;
}

export interface WebhookSender {
  /** The name in the report. */
  readonly name: string;
  /** How this sender differs from the others. */
  readonly description: string;
  start(): Promise<RunningWebhookSender>;
}

/** The body of a webhook before it is signed. Amounts in cents. */
export interface Notification {
  readonly sessionId: string;
  readonly amount: number;
  readonly currencyISOCode: string;
  readonly merchantOrderId: string;
  readonly paymentReference: string;
  readonly paymentStatus: string;
  readonly paymentUTCDate: string;
  readonly status: string;
}

export function newNotification(): Notification {
  return {
    sessionId: randomUUID(),
    amount: 12_345,
    currencyISOCode: 'ZAR',
    merchantOrderId: 'ORDER-1',
    paymentReference: newPaymentReference(),
    paymentStatus: 'Success',
    paymentUTCDate: new Date().toISOString(),
    status: 'Success',
  };
}

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Returns 18 random characters in the format of a payment reference (C3), without a valid check character. */
export function newPaymentReference(): string {
  return [...randomBytes(18)].map((byte) => ALPHABET[byte % ALPHABET.length]).join('');
}
