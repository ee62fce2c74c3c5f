import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { newLog } from '@svc/service';
import { CodeDecoderConfig } from '../config.js';
import { CodeProviders } from './code-providers.js';

const log = newLog('test', 'silent');
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A provider with the same response for every code, which counts its requests. */
async function aProvider(name: string, status: number | 'silent', over: Record<string, unknown> = {}) {
  let asked = 0;
  const decoded = {
    merchant: { merchantReference: name, merchantName: name, currencyISOCode: 'ZAR', features: {} },
    invoice: { siteReference: 's', currencyISOCode: 'ZAR', amount: 100, createdUTCDate: '2026-01-01T00:00:00Z' },
  };
  const server: Server = createServer((_, response) => {
    asked++;
    if (status !== 'silent') response.writeHead(status).end(JSON.stringify(decoded));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const settings = {
    name,
    mode: 'test',
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    apiKey: 'k',
    timeoutMs: 200,
    hosts: [`${name}.example`],
    shortLinks: [],
    verifiesUnknown: false,
    ...over,
  };
  return { settings, asked: () => asked };
}

function providersOf(...providers: { settings: object }[]): CodeProviders {
  const config = Object.assign(new CodeDecoderConfig(), {
    SVC_ENVIRONMENT: 'development',
    SVC_CODE_PROVIDERS: JSON.stringify(providers.map(({ settings }) => settings)),
  });
  const made = new CodeProviders(config, log);
  closing.unshift(() => made.onApplicationShutdown());
  return made;
}

test('a code of a provider is sent only to that provider, and any other code to all that verify unknown codes', async () => {
  const [one, other, verifying] = [
    await aProvider('one', 200),
    await aProvider('other', 200),
    await aProvider('verifying', 200, { verifiesUnknown: true }),
  ];
  const providers = providersOf(one, other, verifying);
  const merchantOf = async (code: string) => {
    const answer = await providers.find('test', code);
    return answer.kind === 'known' ? answer.decoded.merchant.merchantReference : answer.kind;
  };
  expect(await merchantOf('https://one.example/1')).toBe('one');
  expect([one.asked(), other.asked(), verifying.asked()]).toEqual([1, 0, 0]);
  expect(await merchantOf('nobody knows')).toBe('verifying');
  expect([one.asked(), other.asked(), verifying.asked()]).toEqual([1, 0, 1]);
});

test.each<[string, (number | 'silent')[], string]>([
  ['one knows it and another is silent', ['silent', 200], 'known'],
  ['one is silent and the others do not know it', [404, 'silent', 410], 'unavailable'],
  ['it has expired at one', [404, 410], 'expired'],
  ['none knows it', [404, 404], 'unknown'],
])('combines the results of all providers if %s', async (_, statuses, kind) => {
  const all = await Promise.all(statuses.map((status, i) => aProvider(`p${i}`, status, { verifiesUnknown: true })));
  const providers = providersOf(...all);
  expect((await providers.find('test', 'x')).kind).toBe(kind);
});

test('a key of the other mode queries no provider and matches no fragment', async () => {
  const one = await aProvider('one', 200, { verifiesUnknown: true });
  const providers = providersOf(one);
  expect(await providers.find('live', 'https://one.example/1')).toEqual({ kind: 'unknown' });
  expect(one.asked()).toBe(0);
  expect([providers.fragmentsOf('live').hosts, providers.fragmentsOf('test').hosts]).toEqual([[], ['one.example']]);
});
