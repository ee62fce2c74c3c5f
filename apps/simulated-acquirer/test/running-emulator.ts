import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningAdyenEmulator, startAdyenEmulator } from '../src/adyen/adyen-emulator.js';
import type { NotificationItem } from '../src/adyen/state/records.js';
import { findResponseProblems, findWebhookProblems } from './published-interface.js';

export const API_KEY = 'emulator-api-key';
/** The key of the test vectors of Adyen's libraries. */
export const HMAC_KEY = 'DFB1EB5485895CFA84146406857104ABB4CBCABDC8AAF103A624C8F6A3EAAB00';
export const ACCOUNT = 'SvcTestAccount';

export interface ReceivedWebhook {
  readonly live: string;
  readonly item: NotificationItem;
  readonly authorization: string | undefined;
}

/** Fields of the responses that tests read. */
export interface ResponseBody {
  readonly action?: { readonly url: string };
  readonly additionalData?: Readonly<Record<string, string>>;
  readonly errorCode?: string;
  readonly id?: string;
  readonly pspReference?: string;
  readonly refusalReason?: string;
  readonly refusalReasonCode?: string;
  readonly resultCode?: string;
  readonly status?: number | string;
  readonly text?: string;
  readonly url?: string;
  readonly [field: string]: unknown;
}

export interface EmulatorResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: ResponseBody;
}

/**
 * An emulator with a receiver of its webhooks. Each response and each webhook is compared with Adyen's OpenAPI documents.
 */
export class TestEmulator {
  readonly webhooks: ReceivedWebhook[] = [];
  /** Status with which the receiver answers webhooks. */
  webhookStatus = 202;
  /** Problems of webhooks; empty if they are as documented. */
  readonly webhookProblems: string[] = [];
  private time = new Date('2026-03-01T10:00:00.000Z');
  private emulator: RunningAdyenEmulator;
  private receiver: Server;
  private nextReference = 0;
  private readonly folder = mkdtempSync(join(tmpdir(), 'svc-adyen-'));
  readonly storePath = join(this.folder, 'adyen.jsonl');

  async start(settings: Readonly<Record<string, string>> = {}): Promise<void> {
    this.receiver ??= await this.startReceiver();
    this.emulator = await startAdyenEmulator(
      {
        SVC_ADYEN_EMULATOR_PORT: '0',
        SVC_ADYEN_EMULATOR_STORE: this.storePath,
        SVC_ADYEN_EMULATOR_API_KEY: API_KEY,
        SVC_ADYEN_EMULATOR_HMAC_KEY: HMAC_KEY,
        SVC_ADYEN_EMULATOR_MERCHANT_ACCOUNTS: `${ACCOUNT},OtherAccount`,
        SVC_ADYEN_EMULATOR_WEBHOOK_URL: this.webhookUrl,
        SVC_ADYEN_EMULATOR_WEBHOOK_USER: 'hook-user',
        SVC_ADYEN_EMULATOR_WEBHOOK_PASSWORD: 'hook-password',
        SVC_ADYEN_EMULATOR_REPORT_USER: 'report-user',
        SVC_ADYEN_EMULATOR_REPORT_PASSWORD: 'report-password',
        ...settings,
      },
      () => this.time,
    );
  }

  /** Stops the emulator as a crash would, except that it closes its port, and starts it again with the same file. */
  async restart(settings?: Readonly<Record<string, string>>): Promise<void> {
    await this.emulator.close();
    await this.start(settings);
  }

  async stop(): Promise<void> {
    await this.emulator.close();
    await new Promise((resolve) => {
      this.receiver.close(resolve);
      this.receiver.closeAllConnections();
    });
    rmSync(this.folder, { recursive: true });
  }

  get url(): string {
    return this.emulator.url;
  }

  get webhookUrl(): string {
    return `http://127.0.0.1:${(this.receiver.address() as AddressInfo).port}/webhooks`;
  }

  advance(milliseconds: number): void {
    this.time = new Date(this.time.getTime() + milliseconds);
  }

  newReference(): string {
    return `ref-${this.nextReference++}`;
  }

  /** Calls Adyen's interface, and throws if the response is not as documented. */
  async call(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<EmulatorResponse> {
    const response = await fetch(`${this.url}/v71${path}`, {
      method,
      headers: {
        'x-api-key': API_KEY,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const parsed = text === '' ? undefined : (JSON.parse(text) as ResponseBody);
    const template = path
      .replace(/\?.*$/, '')
      .replace(/^\/payments\/(?!details$)[^/]+\//, '/payments/{paymentPspReference}/')
      .replace(/^\/storedPaymentMethods\/[^/]+$/, '/storedPaymentMethods/{storedPaymentMethodId}');
    expect(findResponseProblems(method, template, response.status, parsed)).toEqual([]);
    return { status: response.status, headers: response.headers, body: parsed ?? {} };
  }

  /** Calls the control interface. */
  async control(method: string, path: string, body?: object): Promise<EmulatorResponse> {
    const response = await fetch(`${this.url}/emulator${path}`, {
      method,
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') ?? false;
    return {
      status: response.status,
      headers: response.headers,
      body: isJson ? (JSON.parse(text) as ResponseBody) : { text },
    };
  }

  pay(changes: Readonly<Record<string, unknown>> = {}, headers?: Record<string, string>): Promise<EmulatorResponse> {
    return this.call('POST', '/payments', this.paymentRequest(changes), headers);
  }

  paymentRequest(changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
    return {
      merchantAccount: ACCOUNT,
      reference: this.newReference(),
      amount: { currency: 'ZAR', value: 12345 },
      returnUrl: 'https://shop.example/return?order=7',
      paymentMethod: newCard(),
      additionalData: { manualCapture: 'true' },
      ...changes,
    };
  }

  /** An authorised payment; its PSP reference. */
  async authorise(changes: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const { body } = await this.pay(changes);
    expect(body.resultCode).toBe('Authorised');
    return body.pspReference!;
  }

  /** An authorised and captured payment; its PSP reference. */
  async capture(changes: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const pspReference = await this.authorise(changes);
    const { status } = await this.modify(pspReference, 'captures', { amount: { currency: 'ZAR', value: 12345 } });
    expect(status).toBe(201);
    return pspReference;
  }

  modify(pspReference: string, what: string, changes: object = {}): Promise<EmulatorResponse> {
    return this.call('POST', `/payments/${pspReference}/${what}`, { merchantAccount: ACCOUNT, ...changes });
  }

  /** Sends all waiting webhooks, and returns the received webhooks with these event codes, or all. */
  async received(...eventCodes: string[]): Promise<NotificationItem[]> {
    await this.control('POST', '/webhooks/deliver');
    return this.webhooks
      .map(({ item }) => item)
      .filter(({ eventCode }) => eventCodes.length === 0 || eventCodes.includes(eventCode));
  }

  private async startReceiver(): Promise<Server> {
    const receiver = createServer((request, response) => {
      void readBody(request).then((text) => {
        const body = JSON.parse(text) as {
          live: string;
          notificationItems: { NotificationRequestItem: NotificationItem }[];
        };
        const item = body.notificationItems[0]!.NotificationRequestItem;
        if (this.webhookStatus < 300)
          this.webhooks.push({ live: body.live, item, authorization: request.headers.authorization });
        this.webhookProblems.push(...findWebhookProblems(item.eventCode, body));
        response.writeHead(this.webhookStatus).end();
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    return receiver;
  }
}

/** A published test card that 3D Secure does not authenticate. */
export function newCard(changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    type: 'scheme',
    number: '4111111111111111',
    expiryMonth: '03',
    expiryYear: '2030',
    cvc: '737',
    holderName: 'Nomsa Dlamini',
    ...changes,
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
