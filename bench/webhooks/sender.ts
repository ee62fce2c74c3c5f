/** The system under measurement: it gets payments and sends webhooks to the merchant. */
import { randomBytes, randomUUID } from 'node:crypto';
import type { Groups } from '../measuring/cpu.ts';

/** Every sender gets payments in batches of this size. */
export const BATCH_SIZE = 200;
/** Parallel requests of every sender. */
export const CONCURRENCY = 50;

export interface RunningSender {
  /** `whsec_…`: the merchant checks signatures with it. */
  readonly secret: string;
  readonly groups: Groups;
  /** Sends webhooks of `count` payments to `url`; returns as soon as the first of them may be sent. */
  send(url: string, count: number): Promise<void>;
  stop(): Promise<void>;
}

export interface Sender {
  /** The name in the report. */
  readonly name: string;
  /** How this sender differs from the others. */
  readonly remark: string;
  start(): Promise<RunningSender>;
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

/** Has the format of a payment reference (C3), without its check character. */
export function newPaymentReference(): string {
  return [...randomBytes(18)].map((byte) => ALPHABET[byte % ALPHABET.length]).join('');
}
