import { ROUTES } from '@svc/contracts';
import type { Administration } from '../administration-api/administration.ts';
import { ADMIN_COMMANDS, adminHelp, findCommand, formatForPerson } from './admin.ts';
import { readInput } from './command.ts';

const ORGANISATION = '019ca8d7-2d00-76fa-a435-7649921434cf';

/** The requests that a command line makes to the administration API. */
async function requestsOf(line: string, answers: Record<string, unknown> = {}): Promise<string[]> {
  const calls: string[] = [];
  const administration: Administration = {
    call: async (method, path, body) => {
      calls.push([method, path, ...(body === undefined ? [] : [JSON.stringify(body)])].join(' '));
      return answers[`${method} ${path}`] ?? {};
    },
    text: (path, accept) => Promise.resolve((calls.push(`GET ${path} as ${accept}`), 'type,amount\r\n')),
  };
  const args = line.split(' ');
  const command = findCommand(args);
  await command.run(administration, readInput(command, args.slice(2)));
  return calls;
}

const NO_TEXT: Pick<Administration, 'text'> = {
  text: (path) => Promise.reject(new Error(`unexpected request for ${path}`)),
};

describe('./svc admin', () => {
  it.each([
    ['organisations create Partner', 'POST /organisations {"name":"Partner"}'],
    [`api-tokens create ${ORGANISATION} --live`, `POST /organisations/${ORGANISATION}/api-tokens {"mode":"live"}`],
    [`keys create ${ORGANISATION}`, `POST /organisations/${ORGANISATION}/keys {"mode":"test"}`],
    ['keys create 1001 --live', 'POST /merchants/1001/keys {"mode":"live"}'],
    ['keys revoke 1001/5001 ../x', 'DELETE /merchants/1001/sites/5001/keys/..%2Fx'],
    ['webhook-secrets create 1001/5001', 'POST /merchants/1001/sites/5001/webhook-secrets {"mode":"test"}'],
    ['webhooks list --unsigned --merchant 1001', 'GET /notifications?merchantId=1001&unsigned=true'],
    ['merchants minimum 1001 500', 'PATCH /merchants/1001 {"minimumAmount":500}'],
    [
      'sites webhook 1001/5001 https://shop.example/hook',
      'PATCH /merchants/1001/sites/5001 {"webhookUrl":"https://shop.example/hook","webhookEnabled":true}',
    ],
    ['sites webhook 1001/5001 off', 'PATCH /merchants/1001/sites/5001 {"webhookEnabled":false}'],
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
    ['refunds list', 'GET /refunds'],
    ['refunds list --pending', 'GET /refunds?state=pending'],
    ['refunds list --payment ABC', 'GET /refunds?svcId=ABC'],
    ['settlements show 1001 2026-11-20 --csv', 'GET /settlements/2026-11-20?merchantId=1001&mode=test as text/csv'],
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
  ])('%s', async (line, call) => expect(await requestsOf(line)).toEqual([call]));

  it('changes one feature and one grant, and does not change the others', async () => {
    const merchant = {
      features: { tip: { enabled: true }, orderReference: { label: 'Table' } },
      grants: [{ organisationId: 'other', vouchers: true, externalPayments: false }],
    };
    const answers = { 'GET /merchants/1001': merchant, 'PATCH /merchants/1001': merchant };
    expect((await requestsOf('features set 1001 orderReference.required=true tip.enabled=false', answers))[1]).toBe(
      'PATCH /merchants/1001 {"features":{"tip":{"enabled":false},"orderReference":{"label":"Table","required":true}}}',
    );
    const [, granted] = await requestsOf(`grants allow 1001 ${ORGANISATION} vouchers`, answers);
    expect(JSON.parse(granted!.slice('PATCH /merchants/1001 '.length))).toEqual({
      grants: [...merchant.grants, { organisationId: ORGANISATION, vouchers: true, externalPayments: false }],
    });
  });

  it('sets the fees of one mode, and does not change those of the other mode', async () => {
    const fees = { test: { basisPoints: 100, fixedAmount: 0 } };
    const answers = { 'GET /merchants/1001': { fees } };
    expect((await requestsOf('merchants fee 1001 290 150 --live', answers))[1]).toBe(
      'PATCH /merchants/1001 {"fees":{"test":{"basisPoints":100,"fixedAmount":0},"live":{"basisPoints":290,"fixedAmount":150}}}',
    );
  });

  describe('verifies the ledger', () => {
    const page = (over: object): object => ({ seals: 2, transfers: 10, more: false, finding: null, ...over });
    const first = 'GET /ledger/verification?after=0';
    const ofDay = { root: 'ab', afterSeal: 4, sealNumber: 9 };
    const verify = async (line: string, answers: Record<string, unknown>): Promise<unknown> => {
      const args = `ledger verify${line}`.split(' ');
      const command = findCommand(args);
      const call: Administration['call'] = (method, path) => Promise.resolve(answers[`${method} ${path}`]);
      return command.run({ ...NO_TEXT, call }, readInput(command, args.slice(2)));
    };

    it('page by page, and adds up the results', async () => {
      const progress = jest.spyOn(console, 'error').mockReturnValue();
      const answers = {
        [first]: page({ sealNumber: 2, more: true }),
        'GET /ledger/verification?after=2': page({ sealNumber: 4 }),
      };
      expect(await verify('', answers)).toEqual({ seals: 4, transfers: 20, lastSeal: 4 });
      expect(progress.mock.calls).toEqual([['10 transfers in 2 seals verified']]);
      progress.mockRestore();
    });

    it('of one day, with the root that was published', async () => {
      const answers = {
        'GET /ledger/days/2026-03-01': ofDay,
        'GET /ledger/verification?after=4&until=9': page({ sealNumber: 9 }),
      };
      const verified = { seals: 2, transfers: 10, lastSeal: 9, root: 'ab' };
      expect(await verify(' --day 2026-03-01 --root AB', answers)).toEqual(verified);
      await expect(verify(' --day 2026-03-01 --root cd', answers)).rejects.toThrow(
        'the root of 2026-03-01 is ab, not the one that was published',
      );
    });

    it.each([
      [{ kind: 'changed', sealNumber: 3, transferId: 't' }, 'transfer t of seal 3 was changed'],
      [{ kind: 'inserted', sealNumber: 3, transferId: 't' }, 'transfer t of seal 3 was inserted'],
      [{ kind: 'seal removed', sealNumber: 3 }, 'seal 3 was removed'],
      [{ kind: 'seal changed', sealNumber: 3 }, 'seal 3 was changed'],
      [{ kind: 'root changed', sealNumber: 3, day: '2026-03-01' }, 'the root of 2026-03-01 is not the hash of seal 3'],
    ])('and fails with the finding: %j', async (finding, message) => {
      const failed = verify('', { [first]: page({ sealNumber: 4, more: true, finding }) });
      await expect(failed).rejects.toMatchObject({ message, exitCode: 1 });
    });
  });

  it('lists the dead letters of each service', async () => {
    const apps = ROUTES.flatMap(({ path }) => /^\/admin\/v1\/dead-letters\/(.+)$/.exec(path)?.[1] ?? []);
    expect(apps.length).toBeGreaterThan(1);
    for (const app of apps) {
      const list = `GET /dead-letters/${app}`;
      expect(await requestsOf(`dead-letters list ${app}`, { [list]: { deadLetters: [], after: null } })).toEqual([
        list,
      ]);
    }
  });

  it('shows the number of messages that RabbitMQ dead-lettered, and replays pages until one replays none', async () => {
    const calls: string[] = [];
    const answers: unknown[] = [
      { count: 7, countMax: 9, oldest: { type: 'a.v1' } },
      { count: 0, countMax: 9, oldest: null },
      { replayed: 1_000, refused: 1 },
      { replayed: 5, refused: 2 },
      { replayed: 0, refused: 2 },
    ];
    const administration: Administration = {
      ...NO_TEXT,
      call: async (method, path) => (calls.push(`${method} ${path}`), answers.shift()),
    };
    const run = async (name: string): Promise<unknown> => {
      const command = findCommand(['dead-letters', name]);
      return command.run(administration, readInput(command, ['code-decoder']));
    };
    expect(await run('broker')).toEqual({ count: 7, countMax: 9, type: 'a.v1' });
    expect(await run('broker')).toEqual({ count: 0, countMax: 9 });
    expect(await run('broker-replay')).toEqual({ replayed: 1_005, refused: 2 });
    const [summary, replays] = [
      'GET /dead-letters/code-decoder/broker',
      'POST /dead-letters/code-decoder/broker/replays',
    ];
    expect(calls).toEqual([summary, summary, replays, replays, replays]);
  });

  it('lists the newest dead letters, or page after page all of them, and replays them all', async () => {
    const calls: string[] = [];
    const answers: unknown[] = [
      { deadLetters: [{ messageId: 'a' }], after: 'next' },
      { deadLetters: [{ messageId: 'a' }], after: 'next' },
      { deadLetters: [{ messageId: 'b' }], after: null },
      { replayed: 98, failed: 2, after: 'next' },
      { replayed: 7, failed: 0, after: null },
    ];
    const api: Administration = {
      ...NO_TEXT,
      call: (method, path) => Promise.resolve((calls.push(`${method} ${path}`), answers.shift())),
    };
    const run = (line: string): Promise<unknown> => {
      const args = line.split(' ');
      const command = findCommand(args);
      return command.run(api, readInput(command, args.slice(2)));
    };
    expect(await run('dead-letters list identity')).toEqual([{ messageId: 'a' }]);
    expect(await run('dead-letters list identity --all --type a.v1')).toEqual([{ messageId: 'a' }, { messageId: 'b' }]);
    expect(await run('dead-letters replay-all identity')).toEqual({ replayed: 105, failed: 2 });
    expect(calls).toEqual([
      'GET /dead-letters/identity',
      'GET /dead-letters/identity?type=a.v1',
      'GET /dead-letters/identity?type=a.v1&after=next',
      'POST /dead-letters/identity/replays',
      'POST /dead-letters/identity/replays?after=next',
    ]);
  });

  it('shows the settlement of a merchant, a line for each currency, deductions negative', async () => {
    const path = 'GET /settlements/2026-11-20?merchantId=1001&mode=live';
    const item = (count: number, amount: number) => ({ count, amount });
    const statement = {
      ...{ merchantId: 1001, mode: 'live', day: '2026-11-20', closed: true, ledgerRoot: 'ab' },
      totals: [
        {
          currencyISOCode: 'ZAR',
          ...{ payments: item(2, 1000), vouchers: item(1, 30), externalPayments: item(0, 0), refunds: item(1, 400) },
          ...{ fees: item(2, 25), net: 605 },
        },
      ],
    };
    const command = findCommand(['settlements', 'show']);
    const api: Administration = {
      ...NO_TEXT,
      call: (method, url) => Promise.resolve(`${method} ${url}` === path ? statement : undefined),
    };
    const show = (...more: string[]) => command.run(api, readInput(command, ['1001', '2026-11-20', '--live', ...more]));
    expect(await show()).toEqual([
      {
        ...{ day: '2026-11-20', mode: 'live', books: 'closed', currency: 'ZAR', payments: '1000 (2)' },
        ...{ vouchers: '30 (1)', external: '0 (0)', refunds: '-400 (1)', fees: '-25 (2)', net: 605 },
      },
    ]);
    expect(await show('--json')).toEqual(statement);
  });

  it('lists notifications, filtered, and the endpoints that fail', async () => {
    const list = 'GET /notifications?state=gone&merchantId=7';
    expect(await requestsOf('webhooks list --state gone --merchant 7', { [list]: { notifications: [] } })).toEqual([
      list,
    ]);
    const circuits = 'GET /notifications/circuits';
    expect(await requestsOf('webhooks failing', { [circuits]: { circuits: [] } })).toEqual([circuits]);
  });

  it('replays many notifications, page after page, and adds up the results', async () => {
    const pages = [
      { replayed: 998, skipped: 2, after: ORGANISATION },
      { replayed: 5, skipped: 0, after: null },
    ];
    const bodies: unknown[] = [];
    const api: Administration = {
      ...NO_TEXT,
      call: (_method, _path, body) => Promise.resolve((bodies.push(body), pages.shift())),
    };
    const args = 'webhooks replay-all --merchant 7 --endpoint shop.example:443 --since 2026-03-01T10:00:00Z'.split(' ');
    const command = findCommand(args);
    expect(await command.run(api, readInput(command, args.slice(2)))).toEqual({ replayed: 1003, skipped: 2 });
    const first = { merchantId: 7, endpoint: 'shop.example:443', since: '2026-03-01T10:00:00Z' };
    expect(bodies).toEqual([first, { ...first, after: ORGANISATION }]);
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
    ['keys create nobody', /"nobody" is not an owner of keys/],
    ['sites rename 1001 Shop', /"1001" is not a site/],
    ['api-tokens list 1001', /"1001" is not an organisationId/],
    ['features set 1001 tip', /"tip" is not feature\.member=value/],
    ['features set 1001 __proto__.x=1', /is not feature\.member=value|no feature/],
    ['features set 1001 constructor.name=1', /there is no feature "constructor.name"/],
    ['grants allow 1001 x money', /"money" cannot be granted/],
    ['merchants list --colour', /--colour/],
  ])('rejects %j with exit code 2', async (line, message) => {
    const error = await requestsOf(line, { 'GET /merchants/1001': { features: {}, grants: [] } }).catch(
      (e: unknown) => e,
    );
    expect(error).toMatchObject({ message: expect.stringMatching(message), exitCode: 2 });
  });

  it('has no duplicate command, and lists all of them in the help', () => {
    const names = ADMIN_COMMANDS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) {
      expect(name).toMatch(/^[a-z-]+( [a-z-]+)?$/);
      expect(adminHelp()).toContain(`  ${name}`);
    }
  });
});

describe('the output', () => {
  it('is a table for a list, lines for an object, and a word for an empty response', () => {
    expect(
      formatForPerson([
        { id: 1, name: 'a' },
        { id: 20, more: ['x'] },
      ]),
    ).toBe('id  name  more\n1   a\n20        ["x"]');
    expect(formatForPerson({ merchantId: 1001, name: 'Karoo' })).toBe('merchantId  1001\nname        Karoo');
    expect(formatForPerson([])).toBe('none');
    expect(formatForPerson(undefined)).toBe('done');
  });

  it('contains no control character of a name', () => {
    expect(formatForPerson({ name: 'a\u001b[2J\nb' })).toBe('name  a?[2J?b');
  });
});
