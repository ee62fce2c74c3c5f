/**
 * `./svc up --acquirer adyen-emulator`: the demo merchants are paid through the emulator of Adyen in test mode
 * (apps/simulated-acquirer). It runs in the process of the simulated bank.
 */
import { existsSync } from 'node:fs';
import { type Administration } from '../administration-api/administration.ts';
import { SvcError } from '../base/svc-error.ts';
import type { Secrets } from '../settings/secrets.ts';
import { type DemoAcquirer, pathsOf, type Ports, type Settings, urlOf } from '../settings/settings.ts';

/** Adyen's name in the administration API, and the only merchant account of the emulator. */
const ADYEN = 'adyen';
/** All demo merchants share the account, because it is also the vault: the emulator charges a token only in its own account. */
const ACCOUNT = 'SvcDemo';
const WEBHOOK_USER = 'svc-webhooks';
const REPORT_USER = 'report@Company.SvcDemo';
const OWN_ACCOUNT_AT_ADYEN = 'SVC_ADYEN_TEST_';

type Variables = Readonly<Record<string, string>>;

/**
 * The emulator also runs when a start of this data folder has used it before, because existing charges keep their
 * acquirer: their captures, refunds and disputes still need it.
 */
export function isAdyenEmulatorOn(settings: Settings): boolean {
  return settings.acquirer === 'adyen-emulator' || existsSync(pathsOf(settings).adyenEmulatorStore);
}

/** @throws SvcError when the emulator cannot run with the other settings */
export function checkAdyenEmulator(settings: Settings): void {
  if (settings.acquirer === 'adyen-emulator' && settings.lan !== undefined)
    throw new SvcError("the pages of Adyen's emulator are only on this machine, so a phone cannot open them", {
      hint: 'use --lan without --acquirer adyen-emulator',
      exitCode: 2,
    });
  const [own] = Object.keys(settings.forwarded).filter((name) => name.startsWith(OWN_ACCOUNT_AT_ADYEN));
  if (own === undefined || !isAdyenEmulatorOn(settings)) return;
  throw new SvcError(`${own} is set, but this data folder uses the emulator of Adyen in test mode`, {
    hint: 'choose another data folder with SVC_DATA_DIR, so that no charge is sent to the other system',
  });
}

/** The page on which a person causes refunds that fail, disputes, faults and settlements. */
export function adyenEmulatorPage(ports: Ports): string {
  return `${urlOf(ports.adyenEmulator)}/emulator/`;
}

/** Variables of payment-processor. */
export function adyenVariables(settings: Settings, { adyenEmulator }: Secrets): Variables {
  if (!isAdyenEmulatorOn(settings)) return {};
  return {
    SVC_ADYEN_TEST_API_KEY: adyenEmulator.apiKey,
    SVC_ADYEN_TEST_HMAC_KEYS: hmacKeyOf(adyenEmulator.hmacKey),
    SVC_ADYEN_TEST_WEBHOOK_USER: WEBHOOK_USER,
    SVC_ADYEN_TEST_WEBHOOK_PASSWORD: adyenEmulator.webhookPassword,
    SVC_ADYEN_TEST_REPORT_USER: REPORT_USER,
    SVC_ADYEN_TEST_REPORT_PASSWORD: adyenEmulator.reportPassword,
    SVC_ADYEN_TEST_CHECKOUT_URL: `${urlOf(settings.ports.adyenEmulator)}/v71`,
    SVC_ADYEN_TEST_VAULT_ACCOUNT: ACCOUNT,
    ...(settings.acquirer === 'adyen-emulator' ? { SVC_CARD_VAULT: ADYEN } : {}),
  };
}

/** Variables of simulated-acquirer. */
export function adyenEmulatorVariables(settings: Settings, { adyenEmulator }: Secrets): Variables {
  if (!isAdyenEmulatorOn(settings)) return {};
  const { ports } = settings;
  return {
    SVC_ADYEN_EMULATOR_PORT: String(ports.adyenEmulator),
    SVC_ADYEN_EMULATOR_STORE: pathsOf(settings).adyenEmulatorStore,
    SVC_ADYEN_EMULATOR_API_KEY: adyenEmulator.apiKey,
    SVC_ADYEN_EMULATOR_HMAC_KEY: hmacKeyOf(adyenEmulator.hmacKey),
    SVC_ADYEN_EMULATOR_MERCHANT_ACCOUNTS: ACCOUNT,
    SVC_ADYEN_EMULATOR_WEBHOOK_URL: `${urlOf(ports.api)}/v1/acquirers/adyen/test/notifications`,
    SVC_ADYEN_EMULATOR_WEBHOOK_USER: WEBHOOK_USER,
    SVC_ADYEN_EMULATOR_WEBHOOK_PASSWORD: adyenEmulator.webhookPassword,
    SVC_ADYEN_EMULATOR_REPORT_USER: REPORT_USER,
    SVC_ADYEN_EMULATOR_REPORT_PASSWORD: adyenEmulator.reportPassword,
  };
}

/** Adyen's HMAC keys are 32 bytes in hexadecimal digits. */
function hmacKeyOf(secret: string): string {
  return Buffer.from(secret, 'base64url').toString('hex');
}

interface MerchantAccount {
  readonly mode: string;
  readonly acquirer: string;
  readonly accountReference: string;
}

/**
 * Sets the accounts of merchants in test mode, for new charges. An account that a person has set at another acquirer is
 * only replaced by `--acquirer adyen-emulator`. Repeating the call changes nothing.
 */
export async function setDemoAccounts(
  admin: Administration,
  merchantIds: readonly number[],
  acquirer: DemoAcquirer,
): Promise<void> {
  for (const merchantId of merchantIds) {
    // The newest setting is first.
    const path = `/merchant-accounts?merchantId=${merchantId}`;
    const { merchantAccounts } = (await admin.call('GET', path)) as { merchantAccounts: MerchantAccount[] };
    const current = merchantAccounts.find(({ mode }) => mode === 'test');
    const isAtEmulator = current?.acquirer === ADYEN && current.accountReference === ACCOUNT;
    if (isAtEmulator === (acquirer === 'adyen-emulator')) continue;
    const account =
      acquirer === 'adyen-emulator'
        ? { acquirer: ADYEN, accountReference: ACCOUNT }
        : { acquirer: 'simulated', accountReference: `merchant-${merchantId}` };
    await admin.call('POST', '/merchant-accounts', { merchantId, mode: 'test', ...account });
  }
}
