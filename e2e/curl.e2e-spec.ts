/** Calls the API of the hosted gateway with curl: first the commands of the guide, then requests of these tests. */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { preparePayRequest, sendPayRequest } from './callers/payer.js';
import { documentedBlocks } from './platform/documented.js';
import { type Platform, run } from './platform/platform.js';
import { sharedPlatform } from './platform/shared-platform.js';

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- each test checks the fields that it reads
  readonly body: any;
}

/** No program listens at this address. The site that requires no key allows its host. */
const UNUSED_URL = 'http://127.0.0.1:9';

function newSessionRequest(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    requestId: randomUUID(),
    merchantOrderId: 'order-17',
    amount: 12_345,
    currencyISOCode: 'ZAR',
    notificationUrl: `${UNUSED_URL}/notify`,
    returnUrl: `${UNUSED_URL}/return`,
    cancelUrl: `${UNUSED_URL}/cancel`,
    origin: '127.0.0.1',
    ...changes,
  };
}

describe('the hosted gateway', () => {
  let platform: Platform;
  let gateway: string;
  /** Headers of the first merchant, with its site that requires the key. */
  let keyed: readonly string[];
  /** Headers of the first merchant, with its site that requires no key. */
  let keyless: readonly string[];

  beforeAll(async () => {
    platform = await sharedPlatform('embedded');
    gateway = platform.demo.gatewayUrl;
    const [first, second] = [platform.site(0, 0), platform.site(0, 1)];
    const merchantId = `merchantId: ${first.merchant.merchantId}`;
    keyed = [merchantId, `merchantSiteId: ${first.siteId}`, `x-api-key: ${first.apiKey}`];
    keyless = [merchantId, `merchantSiteId: ${second.siteId}`];
  });

  async function curl(method: string, path: string, headers: readonly string[], body?: unknown): Promise<Answer> {
    const bodyArguments =
      body === undefined
        ? []
        : [
            '-H',
            'content-type: application/json',
            '--data-binary',
            typeof body === 'string' ? body : JSON.stringify(body),
          ];
    const args = [
      '-sS',
      '-i',
      '-X',
      method,
      `${gateway}${path}`,
      ...headers.flatMap((header) => ['-H', header]),
      ...bodyArguments,
    ];
    const { code, output } = await run('curl', args, platform.env());
    if (code !== 0) throw new Error(`curl ended with ${code}: ${output}`);
    const end = output.indexOf('\r\n\r\n');
    const [statusLine = '', ...lines] = output.slice(0, end).split('\r\n');
    const text = output.slice(end + 4);
    return {
      status: Number(statusLine.split(' ')[1]),
      headers: Object.fromEntries(
        lines.map((line) => [line.split(':')[0]!.toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
      ),
      body: text === '' ? undefined : JSON.parse(text),
    };
  }
  const create = (headers: readonly string[], body: unknown, version = 'v3.1'): Promise<Answer> =>
    curl('POST', `/api/${version}/sessions`, headers, body);
  const messages = (answer: Answer): string =>
    (answer.body.errors as { message: string }[]).map(({ message }) => message).join('; ');

  it('accepts the commands of the guide as written, also when repeated', async () => {
    for (const block of documentedBlocks('curl')) {
      const first = await run('bash', ['-euo', 'pipefail', '-c', block], platform.env());
      expect(first).toMatchObject({ code: 0 });
      const sessions = [...first.output.matchAll(/\{"sessionId".*?\]\}/g)].map(
        ([json]) => JSON.parse(json) as Record<string, unknown>,
      );
      expect(sessions).toEqual(
        [1, 2].map(() => ({
          sessionId: expect.stringMatching(/^[0-9a-f-]{36}$/),
          redirectUrl: expect.stringContaining(`${gateway}/pay?sessionId=`),
          status: 'Success',
          errors: [],
        })),
      );
      const again = await run('bash', ['-euo', 'pipefail', '-c', block], platform.env());
      // The repeated commands return the same sessions, with their current states.
      expect(again.output.replaceAll('"sessionState":"open",', '')).toBe(first.output);
      expect(again.output.match(/"sessionState":"open"/g)).toHaveLength(2);
    }
  });

  it('returns one session for fifty equal concurrent requests', async () => {
    const body = newSessionRequest();
    const answers = await Promise.all(Array.from({ length: 50 }, () => create(keyed, body)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(answers.map((answer) => answer.body.sessionId)).size).toBe(1);
    expect(answers.filter(({ headers }) => headers['idempotency-replayed'] === 'true')).toHaveLength(49);

    const other = await create(keyed, { ...body, amount: 12_346 });
    expect(other).toMatchObject({ status: 409, body: { status: 'BadRequest' } });
    const rows = await platform.sql('SELECT 1 FROM hosted_gateway.sessions WHERE request_id = $1', [body['requestId']]);
    expect(rows).toHaveLength(1);
  });

  const tooLong = 'x'.repeat(101);
  const required = [
    'requestId',
    'merchantOrderId',
    'amount',
    'currencyISOCode',
    'notificationUrl',
    'returnUrl',
    'cancelUrl',
    'origin',
  ];
  const urls = ['notificationUrl', 'returnUrl', 'cancelUrl'];
  const invalidValues: [field: string, value: unknown][] = [
    ...required.flatMap((field): [string, unknown][] => [
      [field, undefined],
      [field, null],
      [field, {}],
    ]),
    ...['requestId', 'merchantOrderId', 'origin'].flatMap((field): [string, unknown][] => [
      [field, ''],
      [field, 17],
    ]),
    ...['requestId', 'merchantOrderId', 'siteName'].map((field): [string, unknown] => [field, tooLong]),
    ...[0, -1, 1.5, '12345', 100_000_000_001, true].map((amount): [string, unknown] => ['amount', amount]),
    ...['USD', 'zar', ''].map((currency): [string, unknown] => ['currencyISOCode', currency]),
    ...urls.flatMap((field): [string, unknown][] =>
      [
        'shop.example/x',
        'http://shop.example/x',
        'javascript:alert(1)',
        'https://user:pass@shop.example/',
        `https://shop.example/${'x'.repeat(2048)}`,
      ].map((url): [string, unknown] => [field, url]),
    ),
    ['origin', 'x'.repeat(2049)],
    ['siteName', 17],
    ['customFields', 'text'],
    ['customFields', [null]],
    ['customFields', Array.from({ length: 21 }, () => ({ key: 'k', value: 'v' }))],
    ['customFields[0].key', [{ value: 'v' }]],
    ['customFields[0].key', [{ key: 'k'.repeat(65), value: 'v' }]],
    ['customFields[0].value', [{ key: 'k' }]],
    [
      'customFields[1].value',
      [
        { key: 'k', value: 'v' },
        { key: 'k', value: 'v'.repeat(513) },
      ],
    ],
  ];
  it.each(invalidValues.map(([field, value]) => [field, JSON.stringify(value)?.slice(0, 40) ?? 'missing', value]))(
    'rejects %s with the value %s, and names the field',
    async (field, _, value) => {
      const answer = await create(keyed, newSessionRequest({ [field.split('[')[0]!]: value }));
      expect(answer).toMatchObject({ status: 400, body: { status: 'BadRequest' } });
      expect(messages(answer)).toContain(field);
      expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    },
  );

  it('names all missing fields in one response, and rejects invalid JSON and large bodies', async () => {
    const nothing = await create(keyed, {});
    expect(nothing.status).toBe(400);
    for (const field of required) expect(messages(nothing)).toContain(field);
    expect(await create(keyed, '{"requestId": ')).toMatchObject({ status: 400, body: { status: 'BadRequest' } });
    const file = join(platform.dataDir, 'too-large.json');
    writeFileSync(file, JSON.stringify(newSessionRequest({ origin: 'x'.repeat(300_000) })));
    expect(await create(keyed, `@${file}`)).toMatchObject({ status: 413, body: { status: 'BadRequest' } });
  });

  it('rejects an unknown key, another merchant’s key and a missing key, and reveals nothing about other merchants', async () => {
    const [merchantId, site, key] = keyed as [string, string, string];
    const foreign = platform.site(1, 0);
    const refused = await Promise.all([
      create([merchantId, site], newSessionRequest()),
      create([merchantId, site, `${key}x`], newSessionRequest()),
      create([merchantId, site, `x-api-key: ${foreign.apiKey}`], newSessionRequest()),
      create([merchantId, site, `x-api-key: ${foreign.merchant.apiKey}`], newSessionRequest()),
      create([merchantId, site, `x-api-key: ${platform.site(0, 1).apiKey}`], newSessionRequest()),
      create([merchantId, `merchantSiteId: ${foreign.siteId}`, key], newSessionRequest()),
      create([`merchantId: ${foreign.merchant.merchantId}`, site, key], newSessionRequest()),
      create([site, key], newSessionRequest()),
      create([merchantId, key], newSessionRequest()),
      create([...keyless, `x-api-key: ${foreign.apiKey}`], newSessionRequest()),
      // Authentication comes first: an unauthenticated caller gets no validation errors of the body.
      create([merchantId, site], {}),
      curl('GET', `/api/v3.1/payments?sessionId=${randomUUID()}`, [merchantId, site]),
      curl('DELETE', `/api/v3.1/sessions/${randomUUID()}`, [merchantId, site]),
    ]);
    expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 401));
    const KEYLESS = 'There is no such site, or it needs its key in the header x-api-key.';
    // The holder of a valid key learns which header is not of the key, not whether the other merchant or site exists.
    const foreignMerchant = (id: string): string =>
      `This key is not of merchant ${id}: send the merchantId of the key, or a key of that merchant.`;
    const foreignSite = (id: string): string =>
      `This key is not of site ${id}: send the merchantSiteId of the key, or a key of that site.`;
    const [ownMerchantId, ownSiteId] = [merchantId.split(': ')[1]!, site.split(': ')[1]!];
    expect(refused.map(messages)).toEqual([
      KEYLESS,
      expect.stringMatching(/^x-api-key has no key: /),
      foreignMerchant(ownMerchantId),
      foreignMerchant(ownMerchantId),
      foreignSite(ownSiteId),
      foreignSite(String(foreign.siteId)),
      foreignMerchant(String(foreign.merchant.merchantId)),
      'The header merchantId is missing.',
      'The header merchantSiteId is missing.',
      foreignMerchant(keyless[0]!.split(': ')[1]!),
      ...Array.from({ length: 3 }, () => KEYLESS),
    ]);
    const unknownKeys = await Promise.all(
      [site, 'merchantSiteId: 9999'].map((siteHeader) =>
        create([merchantId, siteHeader, `x-api-key: svc_test_site_${'A'.repeat(43)}`], newSessionRequest()),
      ),
    );
    for (const { status, body } of unknownKeys)
      expect([status, body]).toEqual([
        401,
        {
          status: 'Unauthorized',
          errors: [
            {
              message:
                'x-api-key has a key that is not known, was revoked, or is of somebody else. Send a valid key of a site or a merchant.',
            },
          ],
        },
      ]);
    expect(new Set(refused.map(({ body }) => body.status as string))).toEqual(new Set(['Unauthorized']));
  });

  it('links each error to a page that explains it, and serves that page', async () => {
    const { headers } = await curl('POST', '/api/v3.1/sessions', keyed, {});
    const page = /^<(.+)>; rel="help"$/.exec(headers['link'] ?? '')?.[1] ?? '';
    expect(page).toBe(`${platform.demo.apiUrl}/errors/request.invalid`);
    const shown = await fetch(page);
    expect([shown.status, shown.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(await shown.text()).toContain('Send a JSON number of whole cents');
    const problem = (await (await fetch(`${platform.demo.apiUrl}/nothing`)).json()) as { type: string };
    expect(problem.type).toBe(`${platform.demo.apiUrl}/errors/resource.not-found`);
    for (const host of [gateway, platform.demo.adminUrl]) expect((await fetch(`${host}/errors`)).status).toBe(200);
  });

  it('accepts addresses of other hosts only in a request with a key of the site or the merchant', async () => {
    expect((await create(keyless, newSessionRequest())).status).toBe(201);
    for (const field of urls) {
      const answer = await create(keyless, newSessionRequest({ [field]: 'https://shop.example/x' }));
      expect(answer.status).toBe(400);
      expect(messages(answer)).toContain(field);
    }
    const merchantKey = `x-api-key: ${platform.site(0, 0).merchant.apiKey}`;
    expect(
      (await create([...keyless, merchantKey], newSessionRequest({ returnUrl: 'https://shop.example/x' }))).status,
    ).toBe(201);
  });

  it.each(['v3.1', 'v3'])('reads payments and cancels sessions under /api/%s', async (version) => {
    const created = await create(keyed, newSessionRequest(), version);
    expect(created.status).toBe(201);
    const { sessionId, redirectUrl } = created.body as { sessionId: string; redirectUrl: string };
    const list = (headers = keyed): Promise<Answer> =>
      curl('GET', `/api/${version}/payments?sessionId=${sessionId}`, headers);
    expect(await list()).toMatchObject({ status: 200, body: { payments: [], status: 'Success', errors: [] } });

    expect(await sendPayRequest(gateway, await preparePayRequest(redirectUrl, '4000000000000002'))).toMatchObject({
      httpStatus: 200,
      state: 'declined',
    });
    expect(await sendPayRequest(gateway, await preparePayRequest(redirectUrl))).toMatchObject({
      httpStatus: 200,
      state: 'succeeded',
    });

    // The payments are readable at once, before the payer is back at the shop.
    const listed = await list();
    const payments = listed.body.payments as Record<string, unknown>[];
    const common = {
      sessionId,
      amount: 12_345,
      currencyISOCode: 'ZAR',
      merchantOrderId: 'order-17',
      status: 'Success',
    };
    const paymentReference = expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{18}$/);
    const paymentUTCDate = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const failed = {
      ...common,
      paymentReference,
      paymentUTCDate,
      paymentStatus: 'Failed',
      paymentMethod: '**** 0002',
      userMessage: expect.any(String),
    };
    const success = {
      ...common,
      paymentReference,
      paymentUTCDate,
      paymentStatus: 'Success',
      paymentMethod: '**** 4242',
    };
    expect(payments).toHaveLength(2);
    expect(payments).toEqual(expect.arrayContaining([failed, success]));

    const reference = payments.find((payment) => payment['paymentStatus'] === 'Success')!['paymentReference'] as string;
    const read = (headers: readonly string[], text = reference): Promise<Answer> =>
      curl('GET', `/api/${version}/payments/${text}`, headers);
    expect(await read(keyed)).toMatchObject({ status: 200, body: success });
    expect((await read(keyed, reference.toLowerCase())).status).toBe(200);
    const other = platform.site(1, 0);
    const stranger = [
      `merchantId: ${other.merchant.merchantId}`,
      `merchantSiteId: ${other.siteId}`,
      `x-api-key: ${other.apiKey}`,
    ];
    expect(await read(stranger)).toMatchObject({ status: 404, body: { status: 'NotFound' } });
    expect(await read(keyless)).toMatchObject({ status: 404, body: { status: 'NotFound' } });
    expect((await list(stranger)).status).toBe(404);
    expect((await read(keyed, 'nonsense')).status).toBe(404);

    // The paid session can no longer be cancelled. The second session is cancelled, and its page accepts no payment.
    expect((await curl('DELETE', `/api/${version}/sessions/${sessionId}`, keyed)).status).toBe(409);
    const second = (await create(keyed, newSessionRequest(), version)).body as {
      sessionId: string;
      redirectUrl: string;
    };
    const late = await preparePayRequest(second.redirectUrl);
    expect((await curl('DELETE', `/api/${version}/sessions/${second.sessionId}`, stranger)).status).toBe(404);
    expect(await curl('DELETE', `/api/${version}/sessions/${second.sessionId}`, keyed)).toMatchObject({
      status: 200,
      body: { status: 'Success', errors: [] },
    });
    expect((await sendPayRequest(gateway, late)).httpStatus).toBe(409);
    await expect(preparePayRequest(second.redirectUrl)).rejects.toThrow('its state is cancelled');
    expect(
      platform.charges().filter((line) => line.outcome === 'approved' && line.paymentReference === reference),
    ).toHaveLength(1);
  });
});
