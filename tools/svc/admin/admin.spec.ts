import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROUTES } from '@svc/contracts';
import type { Administration } from '../administration-api/administration.ts';
import { ADMIN_COMMANDS, adminHelp, findCommand } from './admin.ts';
import { readInput } from './command.ts';

const ORGANISATION = '019ca8d7-2d00-76fa-a435-7649921434cf';

type Call = Administration['call'];

/** Runs a command line against an API with this `call`. Returns the output. */
async function runCommand(
  line: string,
  call: Call,
  text: Administration['text'] = rejectTextRequest,
  upload: Administration['upload'] = (_method, path) => Promise.reject(new Error(`unexpected upload to ${path}`)),
): Promise<unknown> {
  const args = line.split(' ');
  const command = findCommand(args);
  return command.run({ call, text, upload }, readInput(command, args.slice(2)));
}

const rejectTextRequest: Administration['text'] = (path) => Promise.reject(new Error(`unexpected request for ${path}`));

/** Runs a command line and returns its requests to the administration API, which has these responses. */
async function recordRequests(line: string, responses: Record<string, unknown> = {}): Promise<string[]> {
  const requests: string[] = [];
  const call: Call = async (method, path, body) => {
    requests.push([method, path, ...(body === undefined ? [] : [JSON.stringify(body)])].join(' '));
    return responses[`${method} ${path}`] ?? {};
  };
  await runCommand(line, call, async (path, accept) => {
    requests.push(`GET ${path} as ${accept}`);
    return 'type,amount\r\n';
  });
  return requests;
}

/** An API that returns these responses in turn, and records its requests. */
function createQueuedApi(responses: unknown[]): { call: Call; requests: string[] } {
  const requests: string[] = [];
  const call: Call = async (method, path, body) => {
    requests.push([method, path, ...(body === undefined ? [] : [JSON.stringify(body)])].join(' '));
    return responses.shift();
  };
  return { call, requests };
}

describe('./svc admin look logo', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-logo-'));
  const runLogo = async (name: string, bytes?: Buffer) => {
    const uploads: unknown[] = [];
    const file = join(folder, name);
    if (bytes) writeFileSync(file, bytes);
    await runCommand(
      `look logo 1001 ${file}`,
      () => Promise.resolve({}),
      rejectTextRequest,
      async (...upload) => uploads.push(upload),
    );
    return uploads;
  };

  it.each([
    ['a.png', 'image/png'],
    ['a.JPG', 'image/jpeg'],
    ['a.jpeg', 'image/jpeg'],
    ['a.webp', 'image/webp'],
  ])('uploads %s as %s', async (name, type) => {
    const bytes = Buffer.from('the logo');
    expect(await runLogo(name, bytes)).toEqual([['PUT', '/looks/1001/logo', type, bytes]]);
  });

  it.each([
    ['a.svg', Buffer.from('<svg/>'), 'is not a PNG, JPEG or WebP file'],
    ['missing.png', undefined, 'cannot be read'],
    ['large.png', Buffer.alloc(256 * 1024 + 1), 'has more than 256 KiB'],
  ])('refuses %s', async (name, bytes, message) => {
    await expect(runLogo(name, bytes)).rejects.toThrow(message);
  });
});

describe('./svc admin', () => {
  it.each([
    ['organisations create Partner', 'POST /organisations {"name":"Partner"}'],
    [`api-tokens create ${ORGANISATION} --live`, `POST /organisations/${ORGANISATION}/api-tokens {"mode":"live"}`],
    [`keys create ${ORGANISATION}`, `POST /organisations/${ORGANISATION}/keys {"mode":"test"}`],
    ['keys create 1001 --live', 'POST /merchants/1001/keys {"mode":"live"}'],
    ['look show 1001', 'GET /looks/1001'],
    ['look set 1001', 'PUT /looks/1001 {}'],
    [
      'look set 1001 --name=Karoo --colour=#0a7d4f --email=help@karoo.example --phone=0215550100 --help-page=https://karoo.example/help --terms=https://karoo.example/terms',
      'PUT /looks/1001 {"displayName":"Karoo","accentColour":"#0a7d4f","supportEmail":"help@karoo.example","supportPhone":"0215550100","supportUrl":"https://karoo.example/help","termsUrl":"https://karoo.example/terms"}',
    ],
    ['look logo 1001 none', 'DELETE /looks/1001/logo'],
    ['webhook-secrets create 1001/5001', 'POST /merchants/1001/sites/5001/webhook-secrets {"mode":"test"}'],
    ['webhooks list --unsigned --merchant 1001', 'GET /notifications?merchantId=1001&unsigned=true'],
    ['merchants create Karoo --time-zone Africa/Maputo', 'POST /merchants {"name":"Karoo","timeZone":"Africa/Maputo"}'],
    ['merchants time-zone 1001 Asia/Kathmandu', 'PATCH /merchants/1001 {"timeZone":"Asia/Kathmandu"}'],
    ['merchants minimum 1001 500', 'PATCH /merchants/1001 {"minimumAmount":500}'],
    ['merchants maximum 1001 500000', 'PATCH /merchants/1001 {"maximumAmount":500000}'],
    ['merchants maximum 1001 default', 'PATCH /merchants/1001 {"maximumAmount":null}'],
    [
      'sites webhook 1001/5001 https://shop.example/hook',
      'PATCH /merchants/1001/sites/5001 {"webhookUrl":"https://shop.example/hook","webhookEnabled":true}',
    ],
    ['sites webhook 1001/5001 off', 'PATCH /merchants/1001/sites/5001 {"webhookEnabled":false}'],
    ['sites challenge 1001/5001 always', 'PATCH /merchants/1001/sites/5001 {"challengePayers":true}'],
    ['sites challenge 1001/5001 attacks', 'PATCH /merchants/1001/sites/5001 {"challengePayers":false}'],
    ['sites webhook 1001/5001 on', 'PATCH /merchants/1001/sites/5001 {"webhookEnabled":true}'],
    [
      'merchant-accounts set 1001 MID-7 --live',
      'POST /merchant-accounts {"merchantId":1001,"mode":"live","accountReference":"MID-7"}',
    ],
    [
      'merchant-accounts set 1001 MID-7 --acquirer simulated',
      'POST /merchant-accounts {"merchantId":1001,"mode":"test","accountReference":"MID-7","acquirer":"simulated"}',
    ],
    ['merchant-accounts list', 'GET /merchant-accounts'],
    ['fraud show --site 5001', 'GET /velocity-counters?mode=test&siteId=5001'],
    ['fraud show --address 192.0.2.7 --live', 'GET /velocity-counters?mode=live&address=192.0.2.7'],
    ['fraud show --card-of ABC', 'GET /velocity-counters?svcId=ABC'],
    ['fraud release --card-of ABC', 'POST /velocity-counters/releases {"svcId":"ABC"}'],
    [
      'fraud release --range 42424242 --site 5001 --live',
      'POST /velocity-counters/releases {"mode":"live","siteId":5001,"range":"42424242"}',
    ],
    [
      'fraud block 2026-11-30T00:00:00Z --address 192.0.2.7',
      'POST /velocity-counters/blocks {"mode":"test","address":"192.0.2.7","untilUTCDate":"2026-11-30T00:00:00Z"}',
    ],
    [
      'fraud limits 1001 on --card-day 5 --site-day 90',
      'POST /velocity-limits {"merchantId":1001,"mode":"test","enabled":true,"cardDeclinesPerDay":5,"siteDeclinesPerDay":90}',
    ],
    ['fraud limits 1001 list', 'GET /velocity-limits?merchantId=1001'],
    ['refunds list', 'GET /refunds'],
    ['refunds list --pending', 'GET /refunds?state=pending'],
    ['refunds list --payment ABC', 'GET /refunds?svcId=ABC'],
    ['disputes list', 'GET /disputes'],
    ['disputes list --payment ABC', 'GET /disputes?svcId=ABC'],
    ['disputes incidents', 'GET /disputes/incidents'],
    [
      'settlements show 1001 2026-11-20 --csv',
      'GET /settlements?merchantId=1001&mode=test&from=2026-11-20 as text/csv',
    ],
    [
      'settlements show 1001 2026-11-01 --to 2026-11-30 --site 5001 --live --csv --bom',
      'GET /settlements?merchantId=1001&mode=live&from=2026-11-01&to=2026-11-30&siteId=5001&bom=1 as text/csv',
    ],
    ['settlement-reports list', 'GET /settlement-reports'],
    ['settlement-reports unmatched', 'GET /settlement-reports/unmatched'],
    [
      `settlement-reports unmatched --report ${ORGANISATION}`,
      `GET /settlement-reports/unmatched?reportId=${ORGANISATION}`,
    ],
    ['ledger seal 7', 'GET /ledger/seals/7'],
    ['ledger roots', 'GET /ledger/days'],
    ['token-keys rotate', 'POST /token-keys'],
    ['card-keys rotate', 'POST /card-keys'],
    ['card-keys list', 'GET /card-keys'],
    ['audit-log read --after 100', 'GET /audit-log?after=100'],
    [`webhooks show ${ORGANISATION}`, `GET /notifications/${ORGANISATION}`],
    [`webhooks replay ${ORGANISATION}`, `POST /notifications/${ORGANISATION}/replay`],
    [`dead-letters replay code-decoder ${ORGANISATION}`, `POST /dead-letters/code-decoder/${ORGANISATION}/replay`],
    [
      'sites create 1001 Shop SHOP --keyless --hosts a.example,b.example',
      'POST /merchants/1001/sites {"name":"Shop","siteReference":"SHOP","requireApiKey":false,' +
        '"allowedHosts":["a.example","b.example"],"keylessMode":"test"}',
    ],
  ])('%s sends the request %s', async (line, request) => expect(await recordRequests(line)).toEqual([request]));

  it('changes one feature and one grant, and does not change the others', async () => {
    const merchant = {
      features: { tip: { enabled: true }, orderReference: { label: 'Table' } },
      grants: [{ organisationId: 'another-organisation', vouchers: true, externalPayments: false }],
    };
    const responses = { 'GET /merchants/1001': merchant, 'PATCH /merchants/1001': merchant };
    expect(
      (await recordRequests('features set 1001 orderReference.required=true tip.enabled=false', responses))[1],
    ).toBe(
      'PATCH /merchants/1001 {"features":{"tip":{"enabled":false},"orderReference":{"label":"Table","required":true}}}',
    );
    const [, grantRequest] = await recordRequests(`grants allow 1001 ${ORGANISATION} vouchers`, responses);
    expect(JSON.parse(grantRequest!.slice('PATCH /merchants/1001 '.length))).toEqual({
      grants: [...merchant.grants, { organisationId: ORGANISATION, vouchers: true, externalPayments: false }],
    });
  });

  it('sets the fees of one mode, and does not change those of the other mode', async () => {
    const fees = { test: { basisPoints: 100, fixedAmount: 0 } };
    const responses = { 'GET /merchants/1001': { fees } };
    expect((await recordRequests('merchants fee 1001 290 150 --live', responses))[1]).toBe(
      'PATCH /merchants/1001 {"fees":{"test":{"basisPoints":100,"fixedAmount":0},"live":{"basisPoints":290,"fixedAmount":150}}}',
    );
  });

  describe('ledger verify', () => {
    const createPage = (fields: object): object => ({ seals: 2, transfers: 10, more: false, finding: null, ...fields });
    const firstPage = 'GET /ledger/verification?after=0';
    const verify = (options: string, responses: Record<string, unknown>): Promise<unknown> =>
      runCommand(`ledger verify${options}`, async (method, path) => responses[`${method} ${path}`]);

    it('verifies the ledger page by page, and adds up the results of the pages', async () => {
      const progress = jest.spyOn(console, 'error').mockReturnValue();
      const responses = {
        [firstPage]: createPage({ sealNumber: 2, more: true }),
        'GET /ledger/verification?after=2': createPage({ sealNumber: 4 }),
      };
      expect(await verify('', responses)).toEqual({ seals: 4, transfers: 20, lastSeal: 4 });
      expect(progress.mock.calls).toEqual([['10 transfers in 2 seals verified']]);
      progress.mockRestore();
    });

    it('verifies the ledger of one day, and compares the root of that day with the published one', async () => {
      const responses = {
        'GET /ledger/days/2026-03-01': { root: 'ab', afterSeal: 4, sealNumber: 9 },
        'GET /ledger/verification?after=4&until=9': createPage({ sealNumber: 9 }),
      };
      const verified = { seals: 2, transfers: 10, lastSeal: 9, root: 'ab' };
      expect(await verify(' --day 2026-03-01 --root AB', responses)).toEqual(verified);
      await expect(verify(' --day 2026-03-01 --root cd', responses)).rejects.toThrow(
        'the root of 2026-03-01 is ab, not the one that was published',
      );
    });

    it.each([
      [{ kind: 'changed', sealNumber: 3, transferId: 't' }, 'transfer t of seal 3 was changed'],
      [{ kind: 'inserted', sealNumber: 3, transferId: 't' }, 'transfer t of seal 3 was inserted'],
      [{ kind: 'seal removed', sealNumber: 3 }, 'seal 3 was removed'],
      [{ kind: 'seal changed', sealNumber: 3 }, 'seal 3 was changed'],
      [
        { kind: 'root changed', sealNumber: 3, closedUntilUTCDate: '2026-03-02T00:00:00.000Z' },
        'the root of the closing at 2026-03-02T00:00:00.000Z is not the hash of seal 3',
      ],
    ])('exits with 1 when the API reports the finding %j', async (finding, message) => {
      const verification = verify('', { [firstPage]: createPage({ sealNumber: 4, more: true, finding }) });
      await expect(verification).rejects.toMatchObject({ message, exitCode: 1 });
    });
  });

  it('lists the dead letters of each service', async () => {
    const apps = ROUTES.flatMap(({ path }) => /^\/admin\/v1\/dead-letters\/(.+)$/.exec(path)?.[1] ?? []);
    expect(apps.length).toBeGreaterThan(1);
    for (const app of apps) {
      const list = `GET /dead-letters/${app}`;
      expect(await recordRequests(`dead-letters list ${app}`, { [list]: { deadLetters: [], after: null } })).toEqual([
        list,
      ]);
    }
  });

  it('shows the number of messages that RabbitMQ dead-lettered, and replays them until a page replays none', async () => {
    const { call, requests } = createQueuedApi([
      { count: 7, countMax: 9, oldest: { type: 'a.v1' } },
      { count: 0, countMax: 9, oldest: null },
      { replayed: 1_000, refused: 1 },
      { replayed: 5, refused: 2 },
      { replayed: 0, refused: 2 },
    ]);
    const run = (name: string) => runCommand(`dead-letters ${name} code-decoder`, call);
    expect(await run('broker')).toEqual({ count: 7, countMax: 9, type: 'a.v1' });
    expect(await run('broker')).toEqual({ count: 0, countMax: 9 });
    expect(await run('broker-replay')).toEqual({ replayed: 1_005, refused: 2 });
    const summary = 'GET /dead-letters/code-decoder/broker';
    const replays = 'POST /dead-letters/code-decoder/broker/replays';
    expect(requests).toEqual([summary, summary, replays, replays, replays]);
  });

  it('lists the newest dead letters, or with --all every page of them, and replays every page', async () => {
    const { call, requests } = createQueuedApi([
      { deadLetters: [{ messageId: 'a' }], after: 'next' },
      { deadLetters: [{ messageId: 'a' }], after: 'next' },
      { deadLetters: [{ messageId: 'b' }], after: null },
      { replayed: 98, failed: 2, after: 'next' },
      { replayed: 7, failed: 0, after: null },
    ]);
    const run = (line: string): Promise<unknown> => runCommand(line, call);
    expect(await run('dead-letters list identity')).toEqual([{ messageId: 'a' }]);
    expect(await run('dead-letters list identity --all --type a.v1')).toEqual([{ messageId: 'a' }, { messageId: 'b' }]);
    expect(await run('dead-letters replay-all identity')).toEqual({ replayed: 105, failed: 2 });
    expect(requests).toEqual([
      'GET /dead-letters/identity',
      'GET /dead-letters/identity?type=a.v1',
      'GET /dead-letters/identity?type=a.v1&after=next',
      'POST /dead-letters/identity/replays',
      'POST /dead-letters/identity/replays?after=next',
    ]);
  });

  it('shows the settlement of a merchant: a row for each currency, with negative deductions', async () => {
    const path = 'GET /settlements?merchantId=1001&mode=live&from=2026-11-20';
    const item = (count: number, amount: number) => ({ count, amount });
    const statement = {
      ...{ merchantId: 1001, mode: 'live', from: '2026-11-20', to: '2026-11-20', timeZone: 'Africa/Johannesburg' },
      ...{ status: 'final', seal: { number: 7, hash: 'ab' } },
      totals: [
        {
          currencyISOCode: 'ZAR',
          ...{ payments: item(2, 1000), vouchers: item(1, 30), externalPayments: item(0, 0), refunds: item(1, 400) },
          ...{ fees: item(2, 25), disputes: item(1, 300), disputeReversals: item(1, 200), net: 505 },
          ...{ reversals: item(1, 100), refundReturns: item(1, 80), feeReversals: item(1, 20) },
        },
      ],
    };
    const call: Call = async (method, url) => (`${method} ${url}` === path ? statement : undefined);
    const show = (options = '') => runCommand(`settlements show 1001 2026-11-20 --live${options}`, call);
    expect(await show()).toEqual([
      {
        ...{ day: '2026-11-20', timeZone: 'Africa/Johannesburg', mode: 'live', status: 'final', currency: 'ZAR' },
        payments: 'R 10.00 (2)',
        ...{ vouchers: 'R 0.30 (1)', external: 'R 0.00 (0)', refunds: '-R 4.00 (1)', fees: '-R 0.25 (2)' },
        ...{ disputes: '-R 3.00 (1)', disputeReversals: 'R 2.00 (1)', net: 'R 5.05' },
        ...{ reversals: '-R 1.00 (1)', refundReturns: 'R 0.80 (1)', feeReversals: 'R 0.20 (1)' },
      },
    ]);
    expect(await show(' --json')).toEqual(statement);
  });

  it('lists the notifications that match a filter, and the failing endpoints', async () => {
    const list = 'GET /notifications?state=gone&merchantId=7';
    expect(await recordRequests('webhooks list --state gone --merchant 7', { [list]: { notifications: [] } })).toEqual([
      list,
    ]);
    const circuits = 'GET /notifications/circuits';
    expect(await recordRequests('webhooks failing', { [circuits]: { circuits: [] } })).toEqual([circuits]);
  });

  it('replays every page of the selected notifications, and adds up the results', async () => {
    const { call, requests } = createQueuedApi([
      { replayed: 998, skipped: 2, after: 'next' },
      { replayed: 5, skipped: 0, after: null },
    ]);
    const line = 'webhooks replay-all --merchant 7 --endpoint shop.example:443 --since 2026-03-01T10:00:00Z';
    expect(await runCommand(line, call)).toEqual({ replayed: 1003, skipped: 2 });
    const selection = '"merchantId":7,"endpoint":"shop.example:443","since":"2026-03-01T10:00:00Z"';
    expect(requests).toEqual([
      `POST /notifications/replays {${selection}}`,
      `POST /notifications/replays {${selection},"after":"next"}`,
    ]);
  });

  it.each([
    ['webhooks replay-all --merchant seven', /not a merchantId/],
    ['keys', /there is "keys create"/],
    ['dead-letters list demo-shop', /"demo-shop" has no dead letters/],
    ['shops list', /no command "admin shops"/],
    ['keys create', /usage: \.\/svc admin keys create <owner> \[--live\]/],
    ['merchants create Karoo Roastery', /usage: \.\/svc admin merchants create <name>/],
    ['merchants minimum 1001 R5', /"R5" is not a whole number of cents/],
    ['merchants fee 1001 2.9 150', /"2.9" is not a whole number of basis points or cents/],
    ['ledger verify --root abc', /--root needs the --day/],
    ['merchant-accounts set shop MID-7', /"shop" is not a merchantId/],
    ['fraud show', /name one of --site/],
    ['fraud show --site 5001 --address 192.0.2.7', /name one of --site/],
    ['fraud release --range 42424242', /name one of --site/],
    ['fraud limits 1001 perhaps', /is not on, off or list/],
    ['keys create nobody', /"nobody" is not an owner of keys/],
    ['sites rename 1001 Shop', /"1001" is not a site/],
    ['api-tokens list 1001', /"1001" is not an organisationId/],
    ['features set 1001 tip', /"tip" is not feature\.member=value/],
    ['features set 1001 __proto__.x=1', /is not feature\.member=value|no feature/],
    ['features set 1001 constructor.name=1', /there is no feature "constructor.name"/],
    ['grants allow 1001 x money', /"money" cannot be granted/],
    ['merchants list --colour', /--colour/],
  ])('rejects %j with exit code 2', async (line, message) => {
    const error = await recordRequests(line, { 'GET /merchants/1001': { features: {}, grants: [] } }).catch(
      (caught: unknown) => caught,
    );
    expect(error).toMatchObject({ message: expect.stringMatching(message), exitCode: 2 });
  });

  it('has only one command for each name, and lists every command in the help', () => {
    const names = ADMIN_COMMANDS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) {
      expect(name).toMatch(/^[a-z-]+( [a-z-]+)?$/);
      expect(adminHelp()).toContain(`  ${name}`);
    }
  });
});
