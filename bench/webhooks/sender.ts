/** What webhooks are measured on: something that is told of payments and tells the merchant. */
import { randomBytes, randomUUID } from 'node:crypto';
import type { Groups } from '../measuring/cpu.ts';

/** Told and delivered in this size, by every sender. */
export const BATCH = 200;
/** Requests under way at once, by every sender. */
export const CONCURRENCY = 50;

export interface RunningSender {
  /** `whsec_…`: what the merchant checks signatures with. */
  readonly secret: string;
  readonly groups: Groups;
  /** Has `count` payments told to the merchant at `url`; returns as soon as the first of them may be sent. */
  begin(url: string, count: number): Promise<void>;
  stop(): Promise<void>;
}

export interface Sender {
  /** As the report calls it. */
  readonly name: string;
  /** What it does otherwise than the others. */
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

/** Looks like one (C3); nobody checks its check character here. */
export function newPaymentReference(): string {
  return [...randomBytes(18)].map((byte) => ALPHABET[byte % ALPHABET.length]).join('');
}
