import { ConfigError, loadConfig } from '@svc/service';
import { validateSync } from 'class-validator';
import { CodeDecoderConfig } from '../config.js';
import { IsProviderList, parseProviders } from './provider-settings.js';

const PROVIDER = {
  name: 'tapp',
  mode: 'live',
  baseUrl: 'https://api.tapp.example/v2',
  apiKey: 'secret-of-the-provider',
  timeoutMs: 2_000,
  hosts: ['qr.tapp.example'],
  shortLinks: [],
  verifiesUnknown: false,
};

test('a list of providers is parsed', () => {
  expect(parseProviders(JSON.stringify([PROVIDER]))).toEqual({ providers: [PROVIDER] });
  expect(parseProviders('[]')).toEqual({ providers: [] });
});

test.each<[string, unknown]>([
  ['name', 'Tapp!'],
  ['name', ''],
  ['name', 'a'.repeat(51)],
  ['name', 'A'],
  ['name', ['tapp']],
  ['baseUrl', 'xhttps://api.tapp.example'],
  ['baseUrl', 'https://api.tapp.example#x'],
  ['baseUrl', 'https://a'],
  ['baseUrl', `https://a.example/${'x'.repeat(500)}`],
  ['baseUrl', 'https://a b'],
  ['baseUrl', ['https://api.tapp.example']],
  ['apiKey', 'x'.repeat(501)],
  ['apiKey', 'a\u0020b'],
  ['apiKey', 'a\u007f'],
  ['apiKey', ['x']],
  ['timeoutMs', 100.5],
  ['hosts', undefined],
  ['hosts', ['x'.repeat(101)]],
  ['hosts', ['a b']],
  ['hosts', [' abc']],
  ['hosts', ['abc ']],
  ['hosts', ['abc', ['abc']]],
  ['shortLinks', Array(21).fill('abc')],
  ['mode', 'demo'],
  ['baseUrl', 'ftp://api.tapp.example'],
  ['baseUrl', 'https://api.tapp.example/'],
  ['baseUrl', 'https://api.tapp.example/v2?x=1'],
  ['apiKey', ''],
  ['apiKey', 'two\nlines'],
  ['timeoutMs', 99],
  ['timeoutMs', 10_001],
  ['timeoutMs', '2000'],
  ['hosts', 'qr.tapp.example'],
  ['hosts', ['q']],
  ['hosts', Array(21).fill('qr.tapp.example')],
  ['shortLinks', [7]],
  ['verifiesUnknown', 'no'],
  ['verifiesUnknown', undefined],
])('a provider whose %s is %j is rejected, and the error contains the name of this member', (name, value) => {
  expect(parseProviders(JSON.stringify([PROVIDER, { ...PROVIDER, name: 'other', [name]: value }]))).toEqual({
    problem: `has invalid members: [1] ${name}`,
  });
});

test.each([
  { name: 'a' },
  { name: `a-0${'b'.repeat(47)}` },
  { mode: 'test' },
  { baseUrl: 'http://ab' },
  { baseUrl: `https://a.example/${'x'.repeat(491)}` },
  { apiKey: '!' },
  { apiKey: '~'.repeat(500) },
  { timeoutMs: 100 },
  { timeoutMs: 10_000 },
  { hosts: [] },
  { hosts: Array(20).fill('abc') },
  { shortLinks: ['x'.repeat(100)] },
  { verifiesUnknown: true },
])('a provider with %j is accepted', (change) => {
  const providers = [{ ...PROVIDER, ...change }];
  expect(parseProviders(JSON.stringify(providers))).toEqual({ providers });
});

const ALL_MEMBERS = 'name, mode, baseUrl, apiKey, timeoutMs, hosts, shortLinks, verifiesUnknown';
test.each([
  ['', 'is not JSON'],
  ['{', 'is not JSON'],
  ['{}', 'must be a list of at most 20 providers'],
  ['null', 'must be a list of at most 20 providers'],
  [JSON.stringify(Array(21).fill(PROVIDER)), 'must be a list of at most 20 providers'],
  ['[null]', `has invalid members: [0] ${ALL_MEMBERS}`],
  [JSON.stringify([{ ...PROVIDER, name: '' }, PROVIDER, {}]), `has invalid members: [0] name; [2] ${ALL_MEMBERS}`],
  [JSON.stringify([PROVIDER, PROVIDER]), 'contains a name twice'],
])('the setting %j is rejected with the error: %s', (text, problem) =>
  expect(parseProviders(text)).toEqual({ problem }),
);

test('a list of twenty providers is accepted', () => {
  const providers = Array.from({ length: 20 }, (_, index) => ({ ...PROVIDER, name: `p${index}` }));
  expect(parseProviders(JSON.stringify(providers))).toEqual({ providers });
});

test.each([
  [7, 'providers must be a list of at most 20 providers'],
  [['[]'], 'providers is not text'],
])('IsProviderList rejects %j, which is not text, with the error: %s', (value, problem) => {
  class Config {
    @IsProviderList()
    providers: unknown = value;
  }
  expect(validateSync(new Config()).map(({ constraints }) => constraints)).toEqual([{ isProviderList: problem }]);
});

test('loading an invalid configuration fails with the name of the invalid member, without the credentials', () => {
  const env = {
    SVC_DATABASE_URL: 'postgres://role:password@127.0.0.1:5432/svc',
    SVC_ENVIRONMENT: 'production',
    SVC_CODES_URL: 'https://pay.svc.example',
    SVC_ADMIN_KEY: 'an administration key for tests 1',
  };
  const load = (list: unknown) => () =>
    loadConfig(CodeDecoderConfig, { ...env, SVC_CODE_PROVIDERS: JSON.stringify(list) });
  expect(load([PROVIDER])).not.toThrow();
  expect(load([{ ...PROVIDER, timeoutMs: 0 }])).toThrow(ConfigError);
  expect(load([{ ...PROVIDER, timeoutMs: 0 }])).toThrow(/SVC_CODE_PROVIDERS has invalid members: \[0\] timeoutMs/);
  expect(load([{ ...PROVIDER, timeoutMs: 0 }])).not.toThrow(new RegExp(PROVIDER.apiKey));
});
