import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Administration } from '../administration-api/administration.ts';
import { appVariables } from '../processes/env-files.ts';
import { completeSecrets } from '../settings/secrets.ts';
import { pathsOf, readSettings, type Settings } from '../settings/settings.ts';
import { checkAdyenEmulator, setDemoAccounts } from './adyen-emulator.ts';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'svc-demo-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

let secretCount = 0;
const secrets = completeSecrets(undefined, () => Buffer.alloc(32, ++secretCount).toString('base64url'));

function settingsOf(changes: Partial<Settings> = {}, env: NodeJS.ProcessEnv = {}): Settings {
  return { ...readSettings('/repo', { SVC_DATA_DIR: dataDir, ...env }, '/'), ...changes };
}

function storeEmulatorFile(): void {
  const file = pathsOf(settingsOf()).adyenEmulatorStore;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, '');
}

const variablesOf = (settings: Settings) => {
  const { 'payment-processor': processor, 'simulated-acquirer': acquirer } = appVariables(settings, secrets);
  return { processor, acquirer };
};

describe('the variables of Adyen', () => {
  it('are absent by default', () => {
    expect(JSON.stringify(appVariables(settingsOf(), secrets))).not.toMatch(/ADYEN|SVC_CARD_VAULT/);
  });

  it('are the same secrets for the platform and the emulator, and the platform’s own webhook endpoint', () => {
    const { processor, acquirer } = variablesOf(settingsOf({ acquirer: 'adyen-emulator' }));
    expect(processor).toMatchObject({
      SVC_ADYEN_TEST_API_KEY: acquirer['SVC_ADYEN_EMULATOR_API_KEY'],
      SVC_ADYEN_TEST_HMAC_KEYS: acquirer['SVC_ADYEN_EMULATOR_HMAC_KEY'],
      SVC_ADYEN_TEST_WEBHOOK_USER: acquirer['SVC_ADYEN_EMULATOR_WEBHOOK_USER'],
      SVC_ADYEN_TEST_WEBHOOK_PASSWORD: acquirer['SVC_ADYEN_EMULATOR_WEBHOOK_PASSWORD'],
      SVC_ADYEN_TEST_REPORT_USER: acquirer['SVC_ADYEN_EMULATOR_REPORT_USER'],
      SVC_ADYEN_TEST_REPORT_PASSWORD: acquirer['SVC_ADYEN_EMULATOR_REPORT_PASSWORD'],
      SVC_ADYEN_TEST_VAULT_ACCOUNT: acquirer['SVC_ADYEN_EMULATOR_MERCHANT_ACCOUNTS'],
      SVC_ADYEN_TEST_CHECKOUT_URL: 'http://127.0.0.1:7306/v71',
      SVC_CARD_VAULT: 'adyen',
    });
    expect(acquirer).toMatchObject({
      SVC_ADYEN_EMULATOR_PORT: '7306',
      SVC_ADYEN_EMULATOR_STORE: join(dataDir, 'acquirer', 'adyen.jsonl'),
      SVC_ADYEN_EMULATOR_HMAC_KEY: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      SVC_ADYEN_EMULATOR_WEBHOOK_URL: 'http://127.0.0.1:7300/v1/acquirers/adyen/test/notifications',
    });
  });

  it('stay after a start with the simulated bank, because existing charges need them, but new cards go to its vault', () => {
    storeEmulatorFile();
    const { processor, acquirer } = variablesOf(settingsOf());
    expect(processor['SVC_ADYEN_TEST_API_KEY']).toBe(secrets.adyenEmulator.apiKey);
    expect(acquirer['SVC_ADYEN_EMULATOR_PORT']).toBe('7306');
    expect(processor).not.toHaveProperty('SVC_CARD_VAULT');
  });
});

describe('a start', () => {
  const own = { SVC_ADYEN_TEST_API_KEY: 'api-key-of-an-account' };

  it.each([
    ['with the emulator', settingsOf, { acquirer: 'adyen-emulator' }, {}],
    ['on the network', settingsOf, { lan: '192.168.1.5' }, {}],
    ['with an own account at Adyen', settingsOf, {}, own],
  ] as const)('%s is possible', (_what, create, changes, env) => {
    expect(() => checkAdyenEmulator(create(changes, env))).not.toThrow();
  });

  it('with the emulator is refused on the network, because its pages are only on this machine', () => {
    const settings = settingsOf({ acquirer: 'adyen-emulator', lan: '192.168.1.5' });
    expect(() => checkAdyenEmulator(settings)).toThrow(/only on this machine/);
  });

  it('with an own account at Adyen is refused with the emulator, and in a data folder that has used it', () => {
    expect(() => checkAdyenEmulator(settingsOf({ acquirer: 'adyen-emulator' }, own))).toThrow(/SVC_ADYEN_TEST_API_KEY/);
    storeEmulatorFile();
    expect(() => checkAdyenEmulator(settingsOf({}, own))).toThrow(/SVC_ADYEN_TEST_API_KEY is set/);
  });
});

describe('the accounts of the demo merchants', () => {
  it('are at the emulator, without a second setting at the next start', async () => {
    const { admin, settings } = createAdministration();
    for (let start = 0; start < 2; start++) await setDemoAccounts(admin, [1001, 1002], 'adyen-emulator');
    expect(settings.map(({ merchantId, acquirer, mode }) => [merchantId, acquirer, mode])).toEqual([
      [1002, 'adyen', 'test'],
      [1001, 'adyen', 'test'],
    ]);
  });

  it('return to the simulated bank, also without a second setting', async () => {
    const { admin, settings } = createAdministration();
    await setDemoAccounts(admin, [1001], 'adyen-emulator');
    for (let start = 0; start < 2; start++) await setDemoAccounts(admin, [1001], 'simulated');
    expect(settings).toEqual([
      { merchantId: 1001, mode: 'test', acquirer: 'simulated', accountReference: 'merchant-1001' },
      expect.objectContaining({ acquirer: 'adyen' }),
    ]);
  });

  it('do not change on a start with the simulated bank if there is none, or a person has set another', async () => {
    const { admin, settings } = createAdministration();
    await setDemoAccounts(admin, [1001], 'simulated');
    const own = { merchantId: 1001, mode: 'test', acquirer: 'adyen', accountReference: 'OwnAccountAtAdyen' };
    settings.push(own);
    await setDemoAccounts(admin, [1001], 'simulated');
    expect(settings).toEqual([own]);
  });

  it('do not depend on settings of live mode', async () => {
    const { admin, settings } = createAdministration();
    settings.push({ merchantId: 1001, mode: 'live', acquirer: 'adyen', accountReference: 'SvcDemo' });
    await setDemoAccounts(admin, [1001], 'adyen-emulator');
    expect(settings).toHaveLength(2);
  });
});

interface StoredSetting {
  readonly merchantId: number;
  readonly mode: string;
  readonly acquirer: string;
  readonly accountReference: string;
}

/** The settings of the administration API in memory, newest first. */
function createAdministration(): { admin: Administration; settings: StoredSetting[] } {
  const settings: StoredSetting[] = [];
  const admin: Administration = {
    text: (path) => Promise.reject(new Error(`unexpected request for ${path}`)),
    upload: (_method, path) => Promise.reject(new Error(`unexpected upload to ${path}`)),
    call: async (method, path, body) => {
      if (method === 'POST') return settings.unshift(body as StoredSetting);
      const merchantId = Number(/merchantId=(\d+)$/.exec(path)?.[1]);
      return { merchantAccounts: settings.filter((setting) => setting.merchantId === merchantId) };
    },
  };
  return { admin, settings };
}
