import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '@svc/service';
import { AdyenConfig, readAdyenSettings } from './adyen-config.js';

const BASE = { SVC_DATABASE_URL: 'postgres://role:password@localhost:5432/database', SVC_ENVIRONMENT: 'production' };
const KEY_A = 'A'.repeat(64);
const KEY_B = 'b'.repeat(64);

const settingsOf = (
  mode: 'LIVE' | 'TEST',
  changes: Record<string, string | undefined> = {},
): Record<string, string> => {
  const values = {
    API_KEY: `api-key-of-${mode}-mode`,
    HMAC_KEYS: mode === 'TEST' ? KEY_A : KEY_B,
    WEBHOOK_USER: 'adyen',
    WEBHOOK_PASSWORD: `webhook-password-${mode}`,
    REPORT_USER: 'report@Company.Example',
    REPORT_PASSWORD: `report-password-${mode}`,
    VAULT_ACCOUNT: 'ExampleVault',
    ...(mode === 'LIVE' ? { URL_PREFIX: '1797a841fbb37ca7-Example' } : {}),
    ...changes,
  };
  const set = Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(set.map(([name, value]) => [`SVC_ADYEN_${mode}_${name}`, value]));
};
const read = (...variables: object[]): ReturnType<typeof readAdyenSettings> =>
  readAdyenSettings(loadConfig(AdyenConfig, Object.assign({}, BASE, ...variables) as Record<string, string>));
const development = { SVC_ENVIRONMENT: 'development' };

test('without settings each mode is off', () => expect(read()).toEqual({}));

test('each company has the same host in test mode', () => {
  expect(read(settingsOf('TEST'))).toEqual({
    test: {
      apiKey: 'api-key-of-TEST-mode',
      hmacKeys: [KEY_A],
      webhookUser: 'adyen',
      webhookPassword: 'webhook-password-TEST',
      reportUser: 'report@Company.Example',
      reportPassword: 'report-password-TEST',
      vaultAccount: 'ExampleVault',
      checkoutUrl: 'https://checkout-test.adyen.com/v71',
    },
  });
});

test('live mode has a host with the prefix of the company', () => {
  const { test: testSettings, live } = read(
    settingsOf('TEST'),
    settingsOf('LIVE', { HMAC_KEYS: `${KEY_B},${'c'.repeat(64)}` }),
  );
  expect(testSettings).toBeDefined();
  expect(live).toMatchObject({
    checkoutUrl: 'https://1797a841fbb37ca7-Example-checkout-live.adyenpayments.com/checkout/v71',
    hmacKeys: [KEY_B, 'c'.repeat(64)],
  });
});

test.each(Object.keys(settingsOf('LIVE')))('without %s the start fails and names it', (variable) => {
  const { [variable]: _, ...others } = settingsOf('LIVE');
  expect(() => read(others)).toThrow(`The configuration of Adyen is not usable: ${variable} or its _FILE is missing.`);
});

test('all missing settings are named together', () =>
  expect(() => read({ SVC_ADYEN_TEST_API_KEY: 'api-key-of-TEST-mode' })).toThrow(
    /^The configuration of Adyen is not usable: (SVC_ADYEN_TEST_\w+ or its _FILE is missing(; |\.)){6}$/,
  ));

test.each([
  ['API_KEY', 'short'],
  ['API_KEY', 'key with a space in it'],
  ['API_KEY', `key-of-a-request\r\nx-other: 1`],
  ['API_KEY', 'x'.repeat(513)],
  ['HMAC_KEYS', 'A'.repeat(63)],
  ['HMAC_KEYS', `x${KEY_A}`],
  ['WEBHOOK_USER', 'u'.repeat(101)],
  ['VAULT_ACCOUNT', 'a'.repeat(101)],
  ['HMAC_KEYS', `${KEY_A},${KEY_B},${'c'.repeat(64)}`],
  ['HMAC_KEYS', `${'g'.repeat(64)}`],
  ['HMAC_KEYS', `${KEY_A},`],
  ['WEBHOOK_USER', 'user:name'],
  ['WEBHOOK_PASSWORD', 'short'],
  ['REPORT_PASSWORD', 'short'],
  ['VAULT_ACCOUNT', 'a b'],
  ['CHECKOUT_URL', 'ftp://checkout-test.adyen.com/v71'],
  ['CHECKOUT_URL', 'https://checkout-test.adyen.com/v71/'],
  ['CHECKOUT_URL', 'https://user@checkout-test.adyen.com/v71'],
  ['URL_PREFIX', 'p3ny7k2q'],
])('an invalid %s is named, and its value is not', (name, value) => {
  const run = (): unknown => read(development, settingsOf('TEST', { [name]: value }));
  expect(run).toThrow(`SVC_ADYEN_TEST_${name} `);
  expect(run).not.toThrow(value);
});

test('a repeated HMAC key is refused', () =>
  expect(() => read(settingsOf('TEST', { HMAC_KEYS: `${KEY_A},${KEY_A.toLowerCase()}` }))).toThrow(
    'SVC_ADYEN_TEST_HMAC_KEYS contains a key twice',
  ));

test('an unknown setting is refused', () =>
  expect(() => read({ SVC_ADYEN_TEST_API_KEYS: 'api-key-of-TEST-mode' })).toThrow(
    'SVC_ADYEN_TEST_API_KEYS is not a variable',
  ));

test.each(['-a', 'a-', 'a.b', 'a/b', 'x'.repeat(64), ''])('the prefix %p of a live host is refused', (prefix) =>
  expect(() => read(settingsOf('LIVE', { URL_PREFIX: prefix }))).toThrow('SVC_ADYEN_LIVE_URL_PREFIX'),
);

test('live card data is only sent to a live host of Adyen', () =>
  expect(() =>
    read(settingsOf('LIVE', { CHECKOUT_URL: 'https://p-checkout-live.adyenpayments.com.example/v71' })),
  ).toThrow("must be Adyen's own URL in production"));

describe('the modes never meet', () => {
  test.each(['API_KEY', 'HMAC_KEYS', 'WEBHOOK_PASSWORD', 'REPORT_PASSWORD'])('%s must differ', (name) => {
    const value = settingsOf('TEST')[`SVC_ADYEN_TEST_${name}`];
    expect(() => read(settingsOf('TEST'), settingsOf('LIVE', { [name]: value }))).toThrow(
      `SVC_ADYEN_LIVE_${name} has the value of SVC_ADYEN_TEST_${name}`,
    );
  });

  test('one of two HMAC keys is enough', () =>
    expect(() =>
      read(settingsOf('TEST'), settingsOf('LIVE', { HMAC_KEYS: `${KEY_B},${KEY_A.toLowerCase()}` })),
    ).toThrow('SVC_ADYEN_LIVE_HMAC_KEYS has the value'));

  test.each<['LIVE' | 'TEST', string]>([
    ['LIVE', 'https://checkout-test.adyen.com/v71'],
    ['TEST', 'https://1797a841fbb37ca7-Example-checkout-live.adyenpayments.com/checkout/v71'],
  ])('%s mode cannot use %s', (mode, url) => {
    for (const environment of [{}, development])
      expect(() => read(environment, settingsOf(mode, { CHECKOUT_URL: url }))).toThrow('is the URL of the other mode');
  });
});

test.each([
  'http://127.0.0.1:17300/adyen',
  'http://checkout-test.adyen.com/v71',
  'https://checkout-test.adyen.com.example/v71',
  'https://example.com/checkout-test.adyen.com',
  'https://a.checkout-test.adyen.com/v71',
  'https://adyen.com/v71',
])('an emulator is only for development: %s', (url) => {
  const settings = settingsOf('TEST', { CHECKOUT_URL: url });
  expect(read(development, settings).test).toMatchObject({ checkoutUrl: url });
  expect(() => read(settings)).toThrow("must be Adyen's own URL in production");
});

describe('the path of a file', () => {
  let folder: string;
  beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'adyen-'))));
  afterAll(() => rmSync(folder, { recursive: true }));
  const fileOf = (name: string, content: string): string => {
    const file = join(folder, name);
    writeFileSync(file, content);
    chmodSync(file, 0o600);
    return file;
  };

  test('gives each setting, without the end of its line', () => {
    const settings = settingsOf('LIVE', { CHECKOUT_URL: 'https://p-checkout-live.adyenpayments.com/checkout/v71' });
    const files = Object.entries(settings).map(([name, value]) => [`${name}_FILE`, fileOf(name, `${value}\n`)]);
    expect(read(Object.fromEntries(files))).toEqual(read(settings));
  });

  test('that cannot be read, or is empty, does not turn the mode off', () => {
    const missing = { SVC_ADYEN_TEST_API_KEY_FILE: join(folder, 'missing') };
    expect(() => read(missing)).toThrow('the file of SVC_ADYEN_TEST_API_KEY_FILE cannot be read');
    const empty = { ...settingsOf('TEST', { API_KEY: undefined }), SVC_ADYEN_TEST_API_KEY_FILE: fileOf('empty', '') };
    expect(() => read(empty)).toThrow('SVC_ADYEN_TEST_API_KEY must be');
  });

  test('and the setting itself are refused together', () => {
    const both = { ...settingsOf('TEST'), SVC_ADYEN_TEST_API_KEY_FILE: fileOf('key', 'api-key-of-TEST-mode') };
    expect(() => read(both)).toThrow('SVC_ADYEN_TEST_API_KEY and SVC_ADYEN_TEST_API_KEY_FILE are both set');
  });
});
