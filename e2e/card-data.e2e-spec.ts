/** Card data, and the payer's context, never touch a disk: not in a table, not in a log, nowhere below the data folder. */
import { appendFileSync, cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import { waitUntil } from '@svc/testing';
import { formsOf, listTables, scanFiles, scanTables, type Table } from './books/card-scan.js';
import { aSessionRequest, clientOf } from './callers/merchant.js';
import { fillIn, press } from './callers/payer.js';
import { Platform } from './platform/platform.js';

/** Never paid with, so that finding it can only be our doing. */
const PLANTED = '5105105105105100';
/** Paid with: approved, declined for each reason, verified by the bank, and charged with a lost answer. */
const PAID_WITH = [
  '4242424242424242',
  '5555555555554444',
  '378282246310005',
  '4000000000000002',
  '4000000000009995',
  '4000000000000069',
  '4000000000000127',
  '4000000000003220',
  '4000000000004087',
];

/** Of the payer's context, which goes to the bank in memory as the card does. */
const BROWSER = { language: 'af-x-karoobird', screenWidth: 1441 };
const USER_AGENT = 'Karoobrowser/7.7';
const CONTEXT = [BROWSER.language, USER_AGENT];

/** What a column of a type can hold of a card number, and how it is put there; others cannot hold it. */
const PLANTS: Readonly<Record<string, readonly string[]>> = {
  text: formsOf(PLANTED),
  'character varying': formsOf(PLANTED),
  jsonb: formsOf(PLANTED).map((form) => JSON.stringify({ deep: [{ inside: `a ${form} b` }] })),
  json: formsOf(PLANTED).map((form) => JSON.stringify({ inside: form })),
  bytea: [PLANTED],
  bigint: [PLANTED],
  uuid: [PLANTED.padEnd(32, '0'), Buffer.from(PLANTED).toString('hex')],
  numeric: [PLANTED],
};

describe('card data', () => {
  let platform: Platform;
  let client: pg.Client;
  let tables: Table[];

  beforeAll(async () => {
    platform = await Platform.start('card-data', { SVC_LOG_LEVEL: 'trace' });
    client = await platform.sqlClient();
    tables = await listTables(client);
  });
  afterAll(async () => {
    await client?.end();
    await platform?.stop();
  });

  const logsFolder = (): string => join(platform.dataDir, 'log');

  it('would be found in every table, in every column that can hold it', async () => {
    expect(tables.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'demo_shop.orders',
        'hosted_gateway.sessions',
        'identity.merchants',
        'payment_processor.payments',
        'webhook_dispatcher.notifications',
      ]),
    );
    const missed: string[] = [];
    for (const table of tables) {
      const planted = table.columns.flatMap(({ name, type }) => (PLANTS[type] ?? []).map((value) => ({ name, value })));
      if (planted.length === 0) missed.push(`${table.name} has no column to plant a number in`);
      for (const { name, value } of planted) {
        if (!(await isFoundWhenPlanted(table, name, value))) missed.push(`${table.name}.${name}: ${value}`);
      }
    }
    expect(missed).toEqual([]);
  });

  /** In a copy with the table's columns and none of its rules, so that a number fits where it never should. */
  async function isFoundWhenPlanted(table: Table, column: string, value: string): Promise<boolean> {
    await client.query('BEGIN');
    try {
      await client.query(`CREATE TEMP TABLE planted ON COMMIT DROP AS SELECT * FROM ${table.name} WITH NO DATA`);
      await client.query(`INSERT INTO planted (${column}) VALUES ($1)`, [value]);
      return (await scanTables(client, [{ ...table, name: 'planted' }], [PLANTED])).length === 1;
    } finally {
      await client.query('ROLLBACK');
    }
  }

  it('would be found in every log, plain and as base64 wherever it begins', () => {
    const logs = readdirSync(logsFolder());
    expect(logs).toEqual(expect.arrayContaining(['services.log', 'postgres.log']));
    const around = ['', 'a', 'ab'];
    const lines = [
      `{"msg":"paid with ${PLANTED}"}`,
      ...around.map((before) => Buffer.from(`${before}${PLANTED}","cvv":"123"}`).toString('base64')),
      ...around.map((before) => Buffer.from(`${before}${PLANTED}`).toString('base64url')),
    ];
    for (const [index, line] of lines.entries()) {
      const copies = join(platform.dataDir, 'run', `planted-${index}`);
      cpSync(logsFolder(), copies, { recursive: true });
      for (const log of logs) appendFileSync(join(copies, log), `${line}\n`);
      const found = scanFiles(copies, [PLANTED]).map((hit) => hit.split(':')[0]);
      expect([...new Set(found)].sort()).toEqual(logs.sort());
    }
  });

  it('is nowhere after a real run: no table, no log, no other file, PostgreSQL’s own included', async () => {
    await payWithAll();
    expect(await scanTables(client, tables, [...PAID_WITH, ...CONTEXT])).toEqual([]);
    // The last four digits may be shown (P9): a scan of the same tables that does find them has looked at the rows.
    const shown = `%**** ${PAID_WITH[0]!.slice(-4)}%`;
    const { rowCount } = await client.query('SELECT 1 FROM payment_processor.payments AS t WHERE t::text LIKE $1', [
      shown,
    ]);
    expect(rowCount).toBeGreaterThan(0);

    // What PostgreSQL has only in memory is written down, and then looked at as bytes, the write-ahead log included.
    await client.query('CREATE TABLE public.planted (text text)');
    await client.query('INSERT INTO public.planted VALUES ($1)', [PLANTED]);
    await client.query('CHECKPOINT');
    const found = scanFiles(platform.dataDir, [PLANTED]).filter((hit) => hit.startsWith('postgres/'));
    expect(found.some((hit) => hit.startsWith('postgres/base/'))).toBe(true);
    expect(found.some((hit) => hit.startsWith('postgres/pg_wal/'))).toBe(true);
    expect(scanFiles(platform.dataDir, [...PAID_WITH, ...CONTEXT])).toEqual([]);
    expect(readFileSync(join(platform.dataDir, 'acquirer', 'charges.jsonl'), 'utf8')).toContain('"browser.userAgent"');
    expect(readFileSync(join(logsFolder(), 'services.log'), 'utf8')).toContain('"route":"/pay/:sessionId/payments"');
  });

  async function payWithAll(): Promise<void> {
    const merchant = clientOf(platform);
    const { gatewayUrl, shopUrl } = platform.demo;
    const states = await Promise.all(
      PAID_WITH.map(async (cardNumber) => {
        const { redirectUrl } = await merchant.createSession(aSessionRequest(`${shopUrl}/webhooks/svc`));
        const { sessionId, body } = await fillIn(redirectUrl, cardNumber);
        const withBrowser = JSON.stringify({ ...(JSON.parse(body) as object), browser: BROWSER });
        const { state } = await press(gatewayUrl, { sessionId, body: withBrowser }, { 'user-agent': USER_AGENT });
        return state;
      }),
    );
    expect(states).toEqual([
      'succeeded',
      'succeeded',
      'succeeded',
      'declined',
      'declined',
      'declined',
      'declined',
      'verification',
      'processing',
    ]);
    await confirmAtTheBank();
    await payWithCardInTheClear(gatewayUrl);
    await waitUntil('the outcome of the lost answer, and every notification', 60_000, async () => {
      const [left] = await platform.sql<{ open: number; told: number }>(
        `SELECT (SELECT count(*)::int FROM payment_processor.payments WHERE state = 'processing') AS open,
                (SELECT count(*)::int FROM webhook_dispatcher.delivery_attempts) AS told`,
      );
      return left!.open === 0 && left!.told >= PAID_WITH.length;
    });
  }

  /** The payer who is to be verified confirms, and comes back to the page. */
  async function confirmAtTheBank(): Promise<void> {
    const [verification] = await platform.sql<{ url: string; session: string }>(
      `SELECT challenge_url AS url, payable_id AS session
         FROM payment_processor.verifications JOIN payment_processor.payments USING (payment_id)`,
    );
    const { url, session } = verification!;
    await fetch(url, { method: 'POST', body: new URLSearchParams({ answer: 'confirm' }), redirect: 'manual' });
    await fetch(`${platform.demo.gatewayUrl}/pay?sessionId=${session}`);
  }

  /** Somebody who integrates wrongly sends the number as it is, in every place: refused, and not kept. */
  async function payWithCardInTheClear(gatewayUrl: string): Promise<void> {
    const cardNumber = PAID_WITH[1]!;
    const { redirectUrl } = await clientOf(platform).createSession(aSessionRequest('http://127.0.0.1:9/'));
    const { sessionId } = await fillIn(redirectUrl);
    const clear = await press(gatewayUrl, {
      sessionId,
      body: JSON.stringify({ reference: sessionId, try: 1, encryptedCard: cardNumber, cardNumber }),
    });
    expect(clear.httpStatus).toBe(400);
    const answers = await Promise.all([
      fetch(`${gatewayUrl}/pay?sessionId=${cardNumber}`),
      fetch(`${gatewayUrl}/pay/${sessionId}/payments`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: `{${cardNumber}`,
      }),
      fetch(`${gatewayUrl}/api/v3.1/payments/${cardNumber}`, { headers: { 'x-api-key': cardNumber } }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([404, 400, 401]);
  }
});
