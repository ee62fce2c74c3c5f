import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningAdyenEmulator, startAdyenEmulator } from '@svc/simulated-acquirer';
import { MerchantAccountRepository } from '../../src/acquirers/merchant-account.repository.js';
import { createMerchant } from '../partner.js';
import { type Processor, startProcessor } from '../processor.js';

const ACCOUNT = 'SvcTestAccount';
const API_KEY = 'key-of-the-emulator';
const HMAC_KEY = 'DFB1EB5485895CFA84146406857104ABB4CBCABDC8AAF103A624C8F6A3EAAB00';
const PASSWORD = 'password-of-the-emulator';

export interface EmulatorPayment {
  readonly order: { readonly reference: string; readonly shopperInteraction: string };
  readonly state: string;
}

/** The part of the emulator's records that tests read. */
interface EmulatorState {
  readonly payments: readonly EmulatorPayment[];
  readonly challenges: readonly EmulatorPayment[];
  readonly storedCards: readonly { readonly id: string; readonly isDeleted: boolean }[];
}

/** A processor whose merchants are paid through an emulator of Adyen. Its webhooks wait in the emulator. */
export class ProcessorWithAdyen {
  processor!: Processor;
  private emulator!: RunningAdyenEmulator;
  private readonly folder = mkdtempSync(join(tmpdir(), 'svc-adyen-'));

  static async start(env: Readonly<Record<string, string>> = {}): Promise<ProcessorWithAdyen> {
    const started = new ProcessorWithAdyen();
    started.emulator = await startAdyenEmulator(
      {
        SVC_ADYEN_EMULATOR_PORT: '0',
        SVC_ADYEN_EMULATOR_STORE: join(started.folder, 'adyen.jsonl'),
        SVC_ADYEN_EMULATOR_API_KEY: API_KEY,
        SVC_ADYEN_EMULATOR_HMAC_KEY: HMAC_KEY,
        SVC_ADYEN_EMULATOR_MERCHANT_ACCOUNTS: ACCOUNT,
        SVC_ADYEN_EMULATOR_WEBHOOK_USER: 'hooks',
        SVC_ADYEN_EMULATOR_WEBHOOK_PASSWORD: PASSWORD,
        SVC_ADYEN_EMULATOR_REPORT_USER: 'reports',
        SVC_ADYEN_EMULATOR_REPORT_PASSWORD: `${PASSWORD}-2`,
      },
      () => started.processor.clock.now(),
    );
    started.processor = await startProcessor({
      SVC_ADYEN_TEST_API_KEY: API_KEY,
      SVC_ADYEN_TEST_HMAC_KEYS: HMAC_KEY,
      SVC_ADYEN_TEST_WEBHOOK_USER: 'hooks',
      SVC_ADYEN_TEST_WEBHOOK_PASSWORD: PASSWORD,
      SVC_ADYEN_TEST_REPORT_USER: 'reports',
      SVC_ADYEN_TEST_REPORT_PASSWORD: `${PASSWORD}-2`,
      SVC_ADYEN_TEST_CHECKOUT_URL: `${started.emulator.url}/v71`,
      SVC_ADYEN_TEST_VAULT_ACCOUNT: ACCOUNT,
      SVC_CARD_VAULT: 'adyen',
      ...env,
    });
    return started;
  }

  /** Creates a merchant with an account at Adyen. */
  async createMerchant(): Promise<{ merchantId: number; siteId: number }> {
    const merchant = await createMerchant(this.processor);
    const { service, dataSource } = this.processor;
    await service.app
      .get(MerchantAccountRepository)
      .set(
        dataSource.manager,
        merchant.merchantId,
        'test',
        { acquirer: 'adyen', accountReference: ACCOUNT },
        'the test',
      );
    return merchant;
  }

  async state(): Promise<EmulatorState> {
    return (await (await fetch(`${this.emulator.url}/emulator/state`)).json()) as EmulatorState;
  }

  /** Adds a fault of the emulator, which the next matching requests meet. */
  async addFault(fault: Readonly<Record<string, unknown>>): Promise<void> {
    await fetch(`${this.emulator.url}/emulator/faults`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(fault),
    });
  }

  async clearFaults(): Promise<void> {
    await fetch(`${this.emulator.url}/emulator/faults`, { method: 'DELETE' });
  }

  async stop(): Promise<void> {
    await this.processor.stop();
    await this.emulator.close();
    rmSync(this.folder, { recursive: true });
  }
}
