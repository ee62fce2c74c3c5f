import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningAdyenEmulator, startAdyenEmulator } from '@svc/simulated-acquirer';

export const ADYEN_ACCOUNTS = { merchant: 'ContractShop', other: 'OtherShop' } as const;
export const ADYEN_API_KEY = 'contract-api-key-01';
export const ADYEN_HMAC_KEY = '44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056';
export const WEBHOOK_USER = { user: 'contract-webhooks', password: 'contract-webhook-password' } as const;
export const NOTIFICATIONS_PATH = '/v1/acquirers/adyen/test/notifications';
/** The largest number of webhooks that one rule withholds. */
const MAX_WITHHELD = 10_000;

/** The records of the emulator that tests read. */
export interface EmulatorState {
  readonly payments: readonly {
    readonly pspReference: string;
    readonly order: { readonly reference: string };
    readonly state: string;
    readonly authCode?: string;
    readonly capturedValue: number;
    readonly refundedValue: number;
  }[];
  readonly modifications: readonly {
    readonly pspReference: string;
    readonly type: string;
    readonly paymentPspReference?: string;
    readonly reference?: string;
    readonly state: string;
  }[];
  readonly disputes: readonly {
    readonly paymentPspReference: string;
    readonly amount: { readonly value: number };
    readonly isDebited: boolean;
  }[];
  readonly storedCards: readonly { readonly card: { readonly lastFour: string }; readonly isDeleted: boolean }[];
  readonly webhooks: readonly EmulatorWebhook[];
}

export interface EmulatorWebhook {
  readonly id: number;
  readonly live: 'true' | 'false';
  readonly state: string;
  readonly attempts: number;
  readonly item: {
    readonly eventCode: string;
    readonly merchantReference: string;
    readonly originalReference?: string;
    readonly pspReference: string;
  };
}

/** An emulator of Adyen and a client of its control interface. It withholds all webhooks until they are released. */
export class EmulatorClient {
  private emulator!: RunningAdyenEmulator;
  private readonly folder = mkdtempSync(join(tmpdir(), 'svc-adyen-contract-'));
  /** The emulator's clock. */
  now: () => Date = () => new Date('2026-03-01T10:00:00.000Z');

  async start(): Promise<void> {
    this.emulator = await startAdyenEmulator(
      {
        SVC_ADYEN_EMULATOR_PORT: '0',
        SVC_ADYEN_EMULATOR_STORE: join(this.folder, 'adyen.jsonl'),
        SVC_ADYEN_EMULATOR_API_KEY: ADYEN_API_KEY,
        SVC_ADYEN_EMULATOR_HMAC_KEY: ADYEN_HMAC_KEY,
        SVC_ADYEN_EMULATOR_MERCHANT_ACCOUNTS: Object.values(ADYEN_ACCOUNTS).join(','),
        SVC_ADYEN_EMULATOR_WEBHOOK_USER: WEBHOOK_USER.user,
        SVC_ADYEN_EMULATOR_WEBHOOK_PASSWORD: WEBHOOK_USER.password,
        SVC_ADYEN_EMULATOR_WEBHOOK_RETRY_MS: '3600000',
        SVC_ADYEN_EMULATOR_REPORT_USER: 'contract-reports',
        SVC_ADYEN_EMULATOR_REPORT_PASSWORD: 'contract-report-password',
      },
      () => this.now(),
    );
  }

  /** The settings with which the service calls this emulator. */
  get settings(): Record<string, string> {
    return {
      SVC_ADYEN_TEST_API_KEY: ADYEN_API_KEY,
      SVC_ADYEN_TEST_HMAC_KEYS: ADYEN_HMAC_KEY,
      SVC_ADYEN_TEST_WEBHOOK_USER: WEBHOOK_USER.user,
      SVC_ADYEN_TEST_WEBHOOK_PASSWORD: WEBHOOK_USER.password,
      SVC_ADYEN_TEST_REPORT_USER: 'contract-reports',
      SVC_ADYEN_TEST_REPORT_PASSWORD: 'contract-report-password',
      SVC_ADYEN_TEST_VAULT_ACCOUNT: ADYEN_ACCOUNTS.merchant,
      SVC_ADYEN_TEST_CHECKOUT_URL: this.checkoutUrl,
      SVC_CARD_VAULT: 'adyen',
    };
  }

  get checkoutUrl(): string {
    return `${this.emulator.url}/v71`;
  }

  /** Clears the rules and faults of the last case, and withholds all webhooks. */
  async reset(): Promise<void> {
    await this.control('DELETE', '/faults');
    await this.control('DELETE', '/webhook-rules');
    await this.control('POST', '/webhook-rules', { action: 'withhold', times: MAX_WITHHELD });
  }

  /** Calls the control interface. Throws if the emulator refuses the request. */
  async control<T>(method: 'DELETE' | 'GET' | 'POST' | 'PUT', path: string, body?: object): Promise<T> {
    const response = await fetch(`${this.emulator.url}/emulator${path}`, {
      method,
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`The emulator refuses ${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text) as T;
  }

  state(): Promise<EmulatorState> {
    return this.control('GET', '/state');
  }

  async stop(): Promise<void> {
    await this.emulator.close();
    rmSync(this.folder, { recursive: true });
  }
}
