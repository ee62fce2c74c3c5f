import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { newLog } from '@svc/service';
import { CodeDecoderConfig } from '../config.js';
import { CodeProviders } from './code-providers.js';

const log = newLog('test', 'silent');
const closeFunctions: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closeFunctions.splice(0)) await close();
});

/** Starts the server of a provider that sends the same response for every code and counts its requests. */
async function startProvider(name: string, status: number | 'silent', changes: Record<string, unknown> = {}) {
  let requestCount = 0;
  const decoded = {
    merchant: { merchantReference: name, merchantName: name, currencyISOCode: 'ZAR', features: {} },
    invoice: { siteReference: 's', currencyISOCode: 'ZAR', amount: 100, createdUTCDate: '2026-01-01T00:00:00Z' },
  };
  const server: Server = createServer((_, response) => {
    requestCount++;
    if (status !== 'silent') response.writeHead(status).end(JSON.stringify(decoded));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closeFunctions.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const settings = {
    name,
    mode: 'test',
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    apiKey: 'k',
    // Only a silent provider may reach its timeout, also on a busy machine.
    timeoutMs: status === 'silent' ? 200 : 10_000,
    hosts: [`${name}.example`],
    shortLinks: [],
    verifiesUnknown: false,
    ...changes,
  };
  return { settings, getRequestCount: () => requestCount };
}

/** The CodeProviders with these providers as configuration, in development. */
function createCodeProviders(...providers: { settings: object }[]): CodeProviders {
  return createCodeProvidersIn('development', ...providers);
}

function createCodeProvidersIn(environment: string, ...providers: { settings: object }[]): CodeProviders {
  const config = Object.assign(new CodeDecoderConfig(), {
    SVC_ENVIRONMENT: environment,
    SVC_CODE_PROVIDERS: JSON.stringify(providers.map(({ settings }) => settings)),
  });
  const codeProviders = new CodeProviders(config, log);
  closeFunctions.unshift(() => codeProviders.onApplicationShutdown());
  return codeProviders;
}

test('a code with the host of a provider is sent only to this provider, and a code without a known host to each provider that verifies unknown codes', async () => {
  const [first, second, verifying] = [
    await startProvider('first', 200),
    await startProvider('second', 200),
    await startProvider('verifying', 200, { verifiesUnknown: true }),
  ];
  const providers = createCodeProviders(first, second, verifying);
  const findMerchantReference = async (code: string) => {
    const result = await providers.find('test', code);
    return result.kind === 'known' ? result.decoded.merchant.merchantReference : result.kind;
  };
  expect(await findMerchantReference('https://first.example/1')).toBe('first');
  expect([first.getRequestCount(), second.getRequestCount(), verifying.getRequestCount()]).toEqual([1, 0, 0]);
  expect(await findMerchantReference('a code without a host')).toBe('verifying');
  expect([first.getRequestCount(), second.getRequestCount(), verifying.getRequestCount()]).toEqual([1, 0, 1]);
});

test('in production no request is sent to a provider at an internal address, which could receive its key', async () => {
  const provider = await startProvider('internal', 200);
  const findIn = (environment: string) =>
    createCodeProvidersIn(environment, provider).find('test', 'https://internal.example/1');
  expect(await findIn('production')).toEqual({ kind: 'unavailable' });
  expect(provider.getRequestCount()).toBe(0);
  expect(await findIn('development')).toMatchObject({ kind: 'known' });
});

test.each<[string, (number | 'silent')[], string]>([
  ['one provider knows the code and another does not respond', ['silent', 200], 'known'],
  ['one provider does not respond and no other knows the code', [404, 'silent', 410], 'unavailable'],
  ['the code has expired at one provider and no other knows it', [404, 410], 'expired'],
  ['no provider knows the code', [404, 404], 'unknown'],
])('if %s (responses %j), the result is "%s"', async (_, statuses, kind) => {
  const all = await Promise.all(statuses.map((status, i) => startProvider(`p${i}`, status, { verifiesUnknown: true })));
  const providers = createCodeProviders(...all);
  expect((await providers.find('test', 'x')).kind).toBe(kind);
});

test('a provider of test mode is not queried in live mode, and its hosts are not used in live mode', async () => {
  const testProvider = await startProvider('first', 200, { verifiesUnknown: true });
  const providers = createCodeProviders(testProvider);
  expect(await providers.find('live', 'https://first.example/1')).toEqual({ kind: 'unknown' });
  expect(testProvider.getRequestCount()).toBe(0);
  expect([providers.getFragments('live').hosts, providers.getFragments('test').hosts]).toEqual([[], ['first.example']]);
});
