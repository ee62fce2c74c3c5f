/** Tests the PHP client that merchants copy into their shop, and the example shop that uses this client. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { signTestWebhook } from '@svc/sdk';
import { findFreePort, PATIENCE, waitUntil } from '@svc/testing';
import { ensurePhp } from '../tools/svc/install/php.ts';
import { ensureCertificate } from '../tools/svc/lan/certificate.ts';
import { gatewayClient } from './callers/merchant.js';
import { preparePayRequest, sendPayRequest } from './callers/payer.js';
import { type Platform, ROOT, run } from './platform/platform.js';
import { sharedPlatform } from './platform/shared-platform.js';

const DECLINED = '4000000000000002';
const folder = mkdtempSync(join(tmpdir(), 'svc-php-'));
let platform: Platform;
let php: string;
let shop: ChildProcess;
let shopUrl: string;
let log = '';
beforeAll(async () => {
  platform = await sharedPlatform('embedded');
  php = await ensurePhp(ROOT, join(folder, 'apt.log'));
  const port = await findFreePort();
  shopUrl = `http://127.0.0.1:${port}`;
  const { merchant, siteId, apiKey, webhookSecret } = platform.site(0, 0);
  const env = {
    PATH: process.env['PATH'],
    PHP_CLI_SERVER_WORKERS: '4',
    GATEWAY_URL: platform.demo.gatewayUrl,
    MERCHANT_ID: String(merchant.merchantId),
    SITE_ID: String(siteId),
    API_KEY: apiKey,
    WEBHOOK_SECRET: webhookSecret,
    SHOP_URL: shopUrl,
    ORDERS_FOLDER: join(folder, 'orders'),
  };
  shop = spawn(php, ['-S', `127.0.0.1:${port}`, join(ROOT, 'examples/php/shop.php')], {
    env,
    stdio: 'pipe',
    // The workers of PHP's server do not end with the server, so the test ends the whole process group.
    detached: true,
  });
  for (const stream of [shop.stdout, shop.stderr]) stream?.on('data', (chunk: Buffer) => (log += chunk.toString()));
  await waitUntil('the shop', 20_000 * PATIENCE, async () => (await fetch(shopUrl)).ok);
});
afterAll(() => {
  if (shop?.pid !== undefined) process.kill(-shop.pid);
  rmSync(folder, { recursive: true, force: true });
});

/** Calls the shop, and returns the address to which it redirects. */
async function follow(path: string, method = 'GET'): Promise<string> {
  const answer = await fetch(`${shopUrl}${path}`, { method, redirect: 'manual' });
  if (answer.status !== 303) throw new Error(`${path}: ${answer.status} ${await answer.text()} ${log}`);
  return answer.headers.get('location')!;
}

const orderPage = async (id: string): Promise<string> => (await fetch(`${shopUrl}/orders/${id}`)).text();

async function buy(): Promise<{ page: string; id: string }> {
  const page = await follow('/', 'POST');
  const client = gatewayClient(platform);
  const { merchantOrderId } = await client.getSession(new URL(page).searchParams.get('sessionId')!);
  return { page, id: merchantOrderId };
}

const pay = async (page: string, card?: string) =>
  sendPayRequest(platform.demo.gatewayUrl, await preparePayRequest(page, card));

it('the PHP shop sets an order to paid after a decline, a second try and a verified webhook', async () => {
  const { page, id } = await buy();
  expect((await pay(page, DECLINED)).state).toBe('declined');
  expect(await orderPage(id)).toContain('is not paid yet');
  // The shop uses the same session, because the session allows more tries.
  expect(await follow(`/orders/${id}/pay`)).toBe(page);
  expect((await pay(page)).state).toBe('succeeded');
  await waitUntil('the webhook', 20_000 * PATIENCE, async () => (await orderPage(id)).includes('is paid: '));
});

it('the PHP shop creates another session when the order’s session was cancelled', async () => {
  const { page, id } = await buy();
  await gatewayClient(platform).cancelSession(new URL(page).searchParams.get('sessionId')!);
  const next = await waitUntil('the cancellation', 10_000 * PATIENCE, async () => {
    const again = await follow(`/orders/${id}/pay`);
    return again === page ? undefined : again;
  });
  expect((await pay(next)).state).toBe('succeeded');
  await waitUntil('the webhook', 20_000 * PATIENCE, async () => (await orderPage(id)).includes('is paid: '));
});

it('the PHP shop rejects a forged webhook, and a webhook with another amount', async () => {
  const { id } = await buy();
  const post = (headers: Record<string, string>, body: string) =>
    fetch(`${shopUrl}/webhook`, { method: 'POST', headers, body }).then(({ status }) => status);
  const secret = platform.site(0, 0).webhookSecret;
  const payment = { merchantOrderId: id, amount: 12_345 };
  const forged = signTestWebhook({ payment, secret: `whsec_${Buffer.alloc(24, 7).toString('base64')}` });
  const good = signTestWebhook({ payment, secret });
  const cheap = signTestWebhook({ payment: { ...payment, amount: 1 }, secret });
  expect(await post(forged.headers, forged.rawBody)).toBe(400);
  expect(await post(good.headers, good.rawBody.replace('12345', '12346'))).toBe(400);
  expect(await post(cheap.headers, cheap.rawBody)).toBe(204);
  expect(await orderPage(id)).toContain('is not paid yet');
  expect(await post(good.headers, good.rawBody)).toBe(204);
  expect(await orderPage(id)).toContain('is paid: ');
});

describe('the PHP client', () => {
  const CLIENT = `require '${join(ROOT, 'examples/php/SvcPayments.php')}';`;
  const evaluate = async (code: string, options: readonly string[] = []): Promise<string> => {
    const { output } = await run(
      php,
      [
        ...options,
        '-r',
        `${CLIENT} try { ${code} } catch (Throwable $e) { echo get_class($e), ' ', $e->getMessage(); }`,
      ],
      process.env,
    );
    return output.trim();
  };

  /** PHP code that creates a client of the demo's first site, with this key. */
  const init = (key = platform.site(0, 0).apiKey, gatewayUrl = platform.demo.gatewayUrl): string => {
    const { merchant, siteId } = platform.site(0, 0);
    return `$svc = new SvcPayments('${gatewayUrl}', ${merchant.merchantId}, ${siteId}, '${key}', apiUrl: '${platform.demo.apiUrl}');`;
  };
  const evaluateJson = async (code: string): Promise<unknown> => {
    const output = await evaluate(`${init()} echo json_encode(${code});`);
    if (!/^[[{"]/.test(output)) throw new Error(output);
    return JSON.parse(output);
  };

  it('reads, searches and refunds the payment of an order, and reads its settlement', async () => {
    const { page, id } = await buy();
    expect((await pay(page)).state).toBe('succeeded');
    const search = `iterator_to_array($svc->searchPayments('${id}', '2020-01-01'), false)`;
    const [payment] = await waitUntil('the payment', 10_000 * PATIENCE, async () => {
      const found = (await evaluateJson(search)) as { paymentReference: string; paymentUTCDate: string }[];
      return found.length > 0 && found;
    });
    expect(payment).toMatchObject({ invoiceExternalReference: id, invoicedAmount: 12_345, status: 'Success' });
    const { paymentReference, paymentUTCDate } = payment!;
    expect(await evaluateJson(`$svc->getPayment('${paymentReference}')`)).toMatchObject({ merchantOrderId: id });
    expect(await evaluateJson(`iterator_to_array($svc->searchPayments('${id}', null, '2020-01-01'))`)).toEqual([]);

    // A repeat with the same key returns the same refund.
    const refund = `$svc->refund('${paymentReference}', 'complaint-${id}', 345, 'One mug was broken')`;
    const refunded = await evaluateJson(refund);
    expect(refunded).toMatchObject({ svcId: paymentReference, amount: 345, status: 'succeeded' });
    expect(await evaluateJson(refund)).toEqual(refunded);
    expect(await evaluateJson(`$svc->listRefunds('${paymentReference}')`)).toEqual([refunded]);
    expect(await evaluate(`${init()} $svc->refund('${paymentReference}', 'another', 99999);`)).toMatch(
      /^SvcPaymentsError 422: /,
    );

    // The merchant's day: Johannesburg is two hours ahead of UTC, so a payment may be of the next day there.
    const [from, to] = [0, 2].map((hours) =>
      new Date(Date.parse(paymentUTCDate) + hours * 3_600_000).toISOString().slice(0, 10),
    );
    const [day, days] = [`'${to}'`, `'${from}', '${to}'`];
    expect(await evaluateJson(`$svc->settlement(${day})`)).toMatchObject({ from: to, to, siteId: expect.any(Number) });
    expect(await evaluateJson(`$svc->settlement(${days})['totals']`)).toMatchObject([{ currencyISOCode: 'ZAR' }]);
    expect(await evaluate(`${init()} echo $svc->settlementCsv(${day});`)).toContain(paymentReference);
    const csv = await evaluate(`${init()} echo bin2hex($svc->settlementCsv(${days}, true));`);
    expect(Buffer.from(csv, 'hex').subarray(0, 3)).toEqual(Buffer.from('\ufeff'));
  });

  /** Runs `use` with a server on loopback, which gets its requests by `listener`. */
  async function withServer<T>(
    listener: RequestListener,
    use: (port: number) => Promise<T>,
    tls?: { readonly key: Buffer; readonly cert: Buffer },
  ): Promise<T> {
    const server = tls ? createHttpsServer(tls, listener) : createHttpServer(listener);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      return await use((server.address() as AddressInfo).port);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  }

  it('tries again when `Retry-After` has passed, and does not wait for an hour', async () => {
    const times: number[] = [];
    let retryAfter = '1';
    const output = await withServer(
      (_, response) => {
        times.push(performance.now());
        const headers = { 'content-type': 'application/json', 'retry-after': retryAfter };
        if (times.length === 1) response.writeHead(429, headers).end('{}');
        else if (times.length === 2) response.writeHead(200, headers).end('{"sessionState":"open"}');
        else response.writeHead(503, headers).end('{"errors":[{"message":"busy"}]}');
      },
      async (port) => {
        const client = init(undefined, `http://127.0.0.1:${port}`);
        const first = await evaluate(`${client} echo $svc->getSession('s')['sessionState'];`);
        retryAfter = '3600';
        const read = `$svc->getSession('s');`;
        const second = await evaluate(
          `${client} try { ${read} } catch (SvcPaymentsError $e) { echo $e->getMessage(), ' ', $e->retryAfterSeconds; }`,
        );
        return [first, second];
      },
    );
    expect(output).toEqual(['open', '503: busy 3600']);
    expect(times).toHaveLength(3);
    // The first pause without `Retry-After` is at most 0.32 s.
    expect(times[1]! - times[0]!).toBeGreaterThan(990);
  });

  it('says how wrong the clock is, when a certificate or a webhook seems not to be valid', async () => {
    const files = { certificate: join(folder, 'certificate.pem'), key: join(folder, 'key.pem') };
    await ensureCertificate(files, '127.0.0.1', new Date('2020-01-01'));
    const tls = { key: readFileSync(files.key), cert: readFileSync(files.certificate) };
    let aheadMs = 0;
    const listener: RequestListener = (_, response) => {
      const date = new Date(Date.now() + aheadMs).toUTCString();
      response.writeHead(200, { date, 'content-type': 'application/json' }).end('{"sessionState":"open"}');
    };
    const trust = ['-d', `curl.cainfo=${files.certificate}`];
    const expired = await withServer(
      listener,
      async (port) => {
        const read = `${init(undefined, `https://127.0.0.1:${port}`)} $svc->getSession('s');`;
        const isRight = await evaluate(read, trust);
        aheadMs = -(3 * 24 + 5) * 3_600_000 - 30_000;
        return [isRight, await evaluate(read, trust)];
      },
      tls,
    );
    expect(expired[0]).toMatch(
      /^SvcPaymentsError No response: .*expired\. The clock of this server is right, so the platform needs a new certificate$/,
    );
    expect(expired[1]).toMatch(
      /expired\. The clock of this server is 3 days 5 hours ahead of the time of the API \(header Date\): set it to the right time$/,
    );

    aheadMs = 7_230_000;
    const webhook = await withServer(listener, (port) =>
      evaluate(
        `${init(undefined, `http://127.0.0.1:${port}`)} $svc->getSession('s'); ` +
          `SvcPayments::verifyWebhook(['webhook-id' => 'i', 'webhook-timestamp' => (string) (time() + 7230), 'webhook-signature' => 'v1,x'], '{}', ['whsec_AAAA']);`,
      ),
    );
    expect(webhook).toMatch(
      /^SvcWebhookError too-new: it was signed in the future: 72\d\d s from now\. The clock of this server is 2 hours (\d+ seconds )?behind the time of the API/,
    );
  });

  it('verifies the test vector of the documentation, and explains why it rejects other webhooks', async () => {
    const page = readFileSync(join(ROOT, 'docs/webhooks.md'), 'utf8');
    const [head, body] = /```http\n([^]*?)\n```/.exec(page)![1]!.split('\n\n') as [string, string];
    const secret = /`(whsec_\w{20,})`/.exec(page)![1]!;
    const headers = Object.fromEntries(
      head
        .split('\n')
        .flatMap((line) => (/^(webhook-[a-z]+): (.*)$/i.exec(line) ? [line.split(': ') as [string, string]] : [])),
    );
    const verify = (change: { body?: string; secret?: string; seconds?: number; headers?: object }) => {
      const at = Number(headers['webhook-timestamp']) + (change.seconds ?? 0);
      const [sent, text] = [change.headers ?? headers, change.body ?? body].map((value) =>
        Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64'),
      );
      return evaluate(
        `echo SvcPayments::verifyWebhook(json_decode(base64_decode('${sent}'), true), base64_decode('${text}'), ['${change.secret ?? secret}'], ${at})['paymentStatus'];`,
      );
    };
    expect(await verify({})).toBe('Failed');
    expect(await verify({ seconds: 300 })).toBe('Failed');
    expect(await verify({ seconds: 301 })).toMatch(/too-old.* 301 s .*Its signature is right: either the clock/);
    expect(await verify({ seconds: -301 })).toMatch(/too-new.* 301 s .*so the clock of this server is behind/);
    expect(await verify({ seconds: 301, body: '{}' })).toMatch(/too-old.* Is the clock of this server right/);
    expect(await verify({ body: `${body}\n` })).toContain('bad-signature');
    expect(await verify({ secret: `whsec_${Buffer.alloc(24, 1).toString('base64')}` })).toContain('bad-signature');
    expect(await verify({ secret: 'whsec_%' })).toContain('bad-secret');
    expect(await verify({ secret: '' })).toContain('the webhook secret is empty');
    expect(await verify({ headers: {} })).toContain('the header webhook-id is missing');
  });

  it('verifies webhooks of a site, and tells them from those of a session', async () => {
    const page = readFileSync(join(ROOT, 'docs/webhooks.md'), 'utf8');
    const body = JSON.parse(/```json\n(\{\s+"type": "payment"[^]*?)\n```/.exec(page)![1]!) as Record<string, unknown>;
    const key = Buffer.alloc(24, 7);
    const secret = `whsec_${key.toString('base64')}`;
    const signedAt = new Date();
    const seconds = Math.floor(signedAt.getTime() / 1_000);
    const read = (method: string, content: object) => {
      const text = JSON.stringify(content);
      const headers = {
        'Webhook-Id': 'n-1',
        'Webhook-Timestamp': String(seconds),
        'Webhook-Signature': `v1,${createHmac('sha256', key).update(`n-1.${seconds}.${text}`).digest('base64')}`,
      };
      const [sent, raw] = [JSON.stringify(headers), text].map((value) => Buffer.from(value).toString('base64'));
      return evaluate(
        `echo json_encode(SvcPayments::${method}(json_decode(base64_decode('${sent}'), true), base64_decode('${raw}'), ['${secret}'], ${seconds}));`,
      );
    };
    expect(JSON.parse(await read('verifySiteWebhook', body))).toEqual({ ...body, id: 'n-1', status: 'Success' });
    const refund = {
      refundReference: 'r-1',
      amount: 2_500,
      status: 'succeeded',
      createdUTCDate: signedAt.toISOString(),
    };
    expect(JSON.parse(await read('verifySiteWebhook', { ...body, type: 'refund', refund }))).toMatchObject({ refund });
    expect(await read('verifySiteWebhook', { ...body, type: 'refund' })).toContain('refund.amount is no whole number');
    expect(await read('verifySiteWebhook', { type: 'test', siteId: 5_001 })).toBe('null');
    expect(await read('verifySiteWebhook', { sessionId: 's-1' })).toContain('verify it with verifyWebhook');
    expect(await read('verifyWebhook', body)).toContain('verify it with verifySiteWebhook');
  });

  it('explains wrong settings and requests, reads the feed, and resends a delivery', async () => {
    const { apiKey } = platform.site(0, 0);
    expect(await evaluate(`(new SvcPayments('https://pay.example', 1, 2, '${apiKey}'))->listRefunds('P');`)).toContain(
      'apiUrl is missing',
    );
    expect(await evaluate(`new SvcPayments('https://pay.example', 0, 2, '${apiKey}');`)).toContain(
      'merchantId is 0: check the setting',
    );
    expect(await evaluate(init(''))).toContain('apiKey must be a key of a site or a merchant');
    expect(await evaluate(`new SvcPayments('pay.example', 1, 2, '${apiKey}');`)).toContain('gatewayUrl must be');
    const other = `svc_test_site_${'A'.repeat(43)}`;
    expect(await evaluate(`${init(other)} $svc->getSession('${randomUUID()}');`)).toBe(
      `SvcPaymentsError 401: x-api-key has a key that is not known, was revoked, or is of somebody else. Send a valid key of a site or a merchant. (see ${platform.demo.apiUrl}/errors/credentials.invalid)`,
    );
    expect(await evaluate(`${init(apiKey)} $svc->createSession(['amount' => '1']);`)).toContain(
      'requestId is required',
    );
    expect(
      await evaluate(`${init(apiKey)} echo count($svc->listNotifications()['notifications']) > 0 ? 'some' : 'none';`),
    ).toBe('some');
    const resend = `$svc->resendDelivery($svc->listDeliveries('delivered')['deliveries'][0]['id']);`;
    expect(await evaluate(`${init(apiKey)} ${resend} echo 'sent';`)).toBe('sent');
    expect(await evaluate(`${init(apiKey)} $svc->resendDelivery('nothing');`)).toContain('There is no such delivery.');
  });
});
