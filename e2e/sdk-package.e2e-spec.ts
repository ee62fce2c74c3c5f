/**
 * The packed SDK in a project of ES modules, in a CommonJS project, and in the bundle of a page. Each makes a payment.
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { encryptCard } from '@svc/sdk/card';
import { PATIENCE, waitUntil } from '@svc/testing';
import { build } from 'esbuild';
import { startBrowser } from './browser/browser.js';
import { gatewayClient, newSessionRequest } from './callers/merchant.js';
import { MerchantEndpoint } from './callers/merchant-endpoint.js';
import { callApi, logIn } from './callers/partner.js';
import { APPROVED_CARD, preparePayRequest, sendPayRequest } from './callers/payer.js';
import { createInvoice } from './callers/till.js';
import { type Platform, ROOT, run } from './platform/platform.js';
import { sharedPlatform } from './platform/shared-platform.js';

const AMOUNT = 8_950;

let platform: Platform;
/** The SDK is installed here, so that the projects below this folder find it. */
let folder: string;
beforeAll(async () => {
  platform = await sharedPlatform('embedded');
  folder = mkdtempSync(join(tmpdir(), 'svc-sdk-'));
  const output = await succeed(process.execPath, [join(ROOT, 'tools/sdk-package/pack.ts'), folder]);
  const tarball = output.trim().split('\n').at(-1)!;
  await succeed('npm', ['install', '--prefix', folder, '--prefer-offline', '--no-audit', '--no-fund', tarball]);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function succeed(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const { code, output } = await run(command, args, { ...platform.env(), ...env });
  if (code !== 0) throw new Error(`${command} ${args.join(' ')}: ${output}`);
  return output;
}

/** Creates a project that imports the SDK. */
function newProject(name: string, type: 'module' | 'commonjs', source: string): string {
  const project = join(folder, name);
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name, version: '1.0.0', private: true, type }));
  copyFileSync(join(ROOT, 'e2e/sdk-projects', source), join(project, source));
  return project;
}

test.each([
  { name: 'modules', type: 'module', options: { module: 'nodenext' } },
  {
    name: 'commonjs',
    type: 'commonjs',
    // This module resolution is older than package "exports", and the compiler will drop it one day.
    options: { module: 'commonjs', moduleResolution: 'node10', ignoreDeprecations: '6.0', esModuleInterop: true },
  },
] as const)('a server project with $name compiles with the SDK’s types, and pays', async ({ name, type, options }) => {
  const project = newProject(name, type, 'pay.ts');
  const compilerOptions = {
    ...{
      target: 'es2022',
      lib: ['es2024', 'dom', 'dom.asynciterable'],
      types: [],
      strict: true,
      skipLibCheck: false,
    },
    ...options,
  };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['pay.ts'] }));
  await succeed(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', project]);

  const { demo } = platform;
  const { merchant, siteId, apiKey } = platform.site(0, 0);
  const externalReference = randomUUID();
  const { reference: invoiceReference } = await createInvoice(platform, { amount: AMOUNT, externalReference });
  const settings = {
    gateway: { gatewayUrl: demo.gatewayUrl, merchantId: merchant.merchantId, siteId, apiKey },
    merchant: { apiUrl: demo.apiUrl, merchantId: merchant.merchantId, apiKey: merchant.apiKey },
    partner: { apiUrl: demo.apiUrl, ...demo.partner },
    session: newSessionRequest('http://127.0.0.1:9/notify'),
    ...{ invoiceReference, externalReference, amount: AMOUNT, card: APPROVED_CARD },
  };
  const output = await succeed(process.execPath, [join(project, 'pay.js')], { SETTINGS: JSON.stringify(settings) });
  const done = JSON.parse(output) as Record<string, unknown>;
  expect(done).toEqual({
    ...{ page: '/pay', paid: 'success', found: 'Success', paymentStatus: 'Success', card: true },
    ...{ single: 'success', singleAmount: AMOUNT, name: 'Thandi', isCustomer: true, isSearched: true },
  });
});

test('a page encrypts a card, and a payment with the encrypted card succeeds', async () => {
  const project = newProject('page', 'module', 'browser.ts');
  const outfile = join(project, 'page.js');
  // For a browser: the build fails if any module needs Node.js.
  await build({
    entryPoints: [join(project, 'browser.ts')],
    outfile,
    bundle: true,
    platform: 'browser',
    format: 'iife',
  });
  const server = await serveEmptyPage();
  const browser = await startBrowser();
  try {
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    await page.addScriptTag({ path: outfile });
    const headers = await logIn(platform);
    const { body: publicJwk } = await callApi<{ kid: string }>(platform, 'GET', '/v1/cards/encryption-key', headers);
    const reference = randomUUID();
    const sessionId = `${platform.demo.partner.organisationId}.${reference}`;
    const binding = { sessionId, paymentNumber: 1, expiresAt: new Date(Date.now() + 600_000).toISOString() };
    const encryptedCard = await page.evaluate(
      (input) => (globalThis as unknown as { encryptCard: typeof encryptCard }).encryptCard(input),
      { card: APPROVED_CARD, binding, publicJwk: publicJwk! },
    );
    const { reference: invoiceReference } = await createInvoice(platform, { amount: AMOUNT });
    const paid = await callApi<{ status: string }>(platform, 'POST', '/v1/payments', headers, {
      ...{ reference, invoiceReference, amount: AMOUNT, customer: { id: randomUUID() } },
      paymentMethod: { card: { encryptedCard } },
    });
    expect(paid).toMatchObject({ status: 201, body: { status: 'success' } });
  } finally {
    await browser.close();
    server.close();
  }
});

test('svc-webhook listen forwards the webhooks of a site to a local receiver', async () => {
  const { merchant, siteId, apiKey, webhookSecret } = platform.site(0, 0);
  const endpoint = await MerchantEndpoint.start(webhookSecret, () => 204);
  const env = {
    ...platform.env(),
    SVC_FORWARD_TO: endpoint.url,
    SVC_WEBHOOK_SECRET: webhookSecret,
    SVC_GATEWAY_URL: platform.demo.gatewayUrl,
    SVC_MERCHANT_ID: String(merchant.merchantId),
    SVC_SITE_ID: String(siteId),
    SVC_API_KEY: apiKey,
  };
  const listener = spawn(process.execPath, [join(folder, 'node_modules/.bin/svc-webhook'), 'listen'], { env });
  let said = '';
  listener.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  try {
    await waitUntil('the listener', 20_000 * PATIENCE, () => Promise.resolve(said.includes('Ready')));
    const request = newSessionRequest('http://127.0.0.1:9/notify');
    const { redirectUrl } = await gatewayClient(platform).createSession(request);
    await sendPayRequest(platform.demo.gatewayUrl, await preparePayRequest(redirectUrl));
    await waitUntil('the notification', 20_000 * PATIENCE, () =>
      Promise.resolve(endpoint.deliveries.some(({ payment }) => payment.merchantOrderId === request.merchantOrderId)),
    );
    expect(endpoint.invalidSignatures).toEqual([]);
  } finally {
    listener.kill();
    await once(listener, 'exit');
    await endpoint.stop();
  }
});

/** Serves the page on loopback, where a browser allows cryptography as with https. */
async function serveEmptyPage(): Promise<Server> {
  const server = createServer((_, answer) => answer.setHeader('content-type', 'text/html').end('<!doctype html>'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}
