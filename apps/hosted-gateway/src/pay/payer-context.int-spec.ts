import { randomUUID } from 'node:crypto';
import type { ChargeCard } from '@svc/contracts';
import { buildPayment, type Gateway, startGateway } from '../../test/gateway.js';

const PROXY = '127.0.0.1';
const BROWSER = {
  language: 'af-x-karoo',
  screenWidth: 1441,
  screenHeight: 901,
  colorDepth: 24,
  timeZoneOffsetMinutes: -120,
};
const HEADERS = {
  accept: 'text/karoo, */*',
  'user-agent': 'Karoobrowser/7',
  'x-forwarded-for': '192.0.2.1, 203.0.113.7',
};

let gateway: Gateway;
let commands: ChargeCard[];
beforeAll(async () => {
  gateway = await startGateway({ SVC_TRUSTED_PROXIES: PROXY });
  await gateway.respondToCharges((command) => {
    commands.push(command);
    return { ok: true, reply: buildPayment(command.payable, { reference: command.reference, version: 3 }) };
  });
});
beforeEach(() => (commands = []));
afterAll(() => gateway.stop());

async function pay(browser: unknown): Promise<number> {
  const sessionId = await gateway.createSession(await gateway.createMerchant());
  const payload = { reference: randomUUID(), paymentNumber: 1, encryptedCard: 'a.b.c', browser };
  return (await gateway.call('POST', `/pay/${sessionId}/payments`, { headers: HEADERS, payload })).status;
}

test('the charge command contains the IP address from the trusted proxy, and browser data from headers and script', async () => {
  expect(await pay(BROWSER)).toBe(200);
  expect(commands.map(({ payer }) => payer)).toEqual([
    {
      address: '203.0.113.7',
      browser: {
        acceptHeader: 'text/karoo, */*',
        userAgent: 'Karoobrowser/7',
        ...BROWSER,
        javaScriptEnabled: true,
      },
    },
  ]);
});

test.each([
  [null],
  ['x'.repeat(10_000)],
  [[BROWSER]],
  [{ language: {}, screenWidth: -1, screenHeight: '900', colorDepth: 1e9, timeZoneOffsetMinutes: null }],
  [{ ...BROWSER, language: 'x'.repeat(10_000) }],
])(
  'a payment with invalid browser data succeeds, and the charge command does not contain them (%#)',
  async (browser) => {
    expect(await pay(browser)).toBe(200);
    expect(commands).toHaveLength(1);
    expect(JSON.stringify(commands[0]!.payer).length).toBeLessThan(400);
  },
);

test('a forged X-Forwarded-For of a client that is no trusted proxy changes nothing', async () => {
  const direct = await startGateway();
  try {
    const addresses: unknown[] = [];
    await direct.respondToCharges((command) => {
      addresses.push(command.payer?.address);
      return { ok: true, reply: buildPayment(command.payable, { reference: command.reference, version: 3 }) };
    });
    const merchant = await direct.createMerchant();
    for (const forwarded of ['203.0.113.7', '198.51.100.1, 203.0.113.8', '::1']) {
      const sessionId = await direct.createSession(merchant);
      const payload = { reference: randomUUID(), paymentNumber: 1, encryptedCard: 'a.b.c' };
      const headers = { ...HEADERS, 'x-forwarded-for': forwarded };
      expect((await direct.call('POST', `/pay/${sessionId}/payments`, { headers, payload })).status).toBe(200);
    }
    expect(addresses).toEqual(['127.0.0.1', '127.0.0.1', '127.0.0.1']);
  } finally {
    await direct.stop();
  }
});

test('the gateway stores neither browser data nor IP address in any table', async () => {
  await pay(BROWSER);
  const tables = await gateway.dataSource.query<{ name: string }[]>(
    `SELECT relname AS name FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = current_schema()::regnamespace`,
  );
  const findTablesContaining = async (text: string): Promise<string[]> => {
    const tableNames: string[] = [];
    for (const { name } of tables) {
      const rows = await gateway.dataSource.query<unknown[]>(
        `SELECT 1 FROM "${name}" t WHERE t::text LIKE '%' || $1 || '%' LIMIT 1`,
        [text],
      );
      if (rows.length > 0) tableNames.push(name);
    }
    return tableNames;
  };
  expect(await findTablesContaining('order-17')).toContain('sessions');
  for (const text of ['203.0.113.7', 'Karoobrowser', 'text/karoo', 'af-x-karoo'])
    expect(await findTablesContaining(text)).toEqual([]);
});
