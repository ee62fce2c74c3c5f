/** Card data and the payer's context never reach a disk: no table, no log, no file below the data folder. */
import { appendFileSync, cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitUntil } from '@svc/testing';
import type pg from 'pg';
import { gatewayClient, newSessionRequest } from './callers/merchant.js';
import { preparePayRequest, sendPayRequest } from './callers/payer.js';
import { countRowsWith, encodingsOf, listTables, scanFiles, scanTables, type Table } from './consistency/card-scan.js';
import { Platform } from './platform/platform.js';

/** No test pays with this number, so a scan finds the number only where this test planted it. */
const PLANTED_NUMBER = '5105105105105100';
/**
 * Cards that are approved, declined for each reason, verified by the issuer, or charged although the answer is lost.
 */
const PAID_NUMBERS = [
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

/** Parts of the payer's context. Like the card, the context stays in memory until it is sent to the acquirer. */
const BROWSER = { language: 'af-x-karoobird', screenWidth: 1441 };
const USER_AGENT = 'Karoobrowser/7.7';
const CONTEXT = [BROWSER.language, USER_AGENT];

/** Values that plant a card number in a column of each type. A column of another type cannot hold a card number. */
const PLANTED_VALUES: Readonly<Record<string, readonly string[]>> = {
  text: encodingsOf(PLANTED_NUMBER),
  'character varying': encodingsOf(PLANTED_NUMBER),
  jsonb: encodingsOf(PLANTED_NUMBER).map((form) => JSON.stringify({ deep: [{ inside: `a ${form} b` }] })),
  json: encodingsOf(PLANTED_NUMBER).map((form) => JSON.stringify({ inside: form })),
  bytea: [PLANTED_NUMBER],
  bigint: [PLANTED_NUMBER],
  uuid: [PLANTED_NUMBER.padEnd(32, '0'), Buffer.from(PLANTED_NUMBER).toString('hex')],
  numeric: [PLANTED_NUMBER],
};

describe('card data', () => {
  let platform: Platform;
  let client: pg.Client;
  let tables: Table[];

  beforeAll(async () => {
    platform = await Platform.start('card-data', { SVC_LOG_LEVEL: 'trace', SVC_VELOCITY_LIMITS_TEST: 'on' });
    client = await platform.sqlClient();
    tables = await listTables(client);
  });
  afterAll(async () => {
    await client?.end();
    await platform?.stop();
  });

  const logsFolder = (): string => join(platform.dataDir, 'log');

  it('is found when planted in any column that can hold it', async () => {
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
    for (const { name, columns } of tables) {
      const [planted, found] = await countPlantedAndFound(name, columns);
      if (planted === 0) missed.push(`${name} has no column to plant a number in`);
      if (found < planted) missed.push(`${found} of ${planted} numbers planted in ${name}`);
    }
    expect(missed).toEqual([]);
  });

  /**
   * Plants each form of the number in a row of its own, in a copy with the table's columns. The copy has no
   * constraints, so that the number fits anywhere.
   */
  async function countPlantedAndFound(name: string, columns: Table['columns']): Promise<[number, number]> {
    let planted = 0;
    await client.query('BEGIN');
    try {
      await client.query(`CREATE TEMP TABLE planted ON COMMIT DROP AS SELECT * FROM ${name} WITH NO DATA`);
      for (const { name: column, type } of columns) {
        const values = PLANTED_VALUES[type] ?? [];
        if (values.length === 0) continue;
        await client.query(`INSERT INTO planted (${column}) SELECT value::${type} FROM unnest($1::text[]) AS value`, [
          values,
        ]);
        planted += values.length;
      }
      return [planted, await countRowsWith(client, 'planted', [PLANTED_NUMBER])];
    } finally {
      await client.query('ROLLBACK');
    }
  }

  it('is found when planted in any log, plain or as base64 at any offset', () => {
    const logs = readdirSync(logsFolder());
    expect(logs).toEqual(expect.arrayContaining(['services.log', 'postgres.log']));
    const around = ['', 'a', 'ab'];
    const lines = [
      `{"msg":"paid with ${PLANTED_NUMBER}"}`,
      ...around.map((before) => Buffer.from(`${before}${PLANTED_NUMBER}","cvv":"123"}`).toString('base64')),
      ...around.map((before) => Buffer.from(`${before}${PLANTED_NUMBER}`).toString('base64url')),
    ];
    for (const [index, line] of lines.entries()) {
      const copies = join(platform.dataDir, 'run', `planted-${index}`);
      cpSync(logsFolder(), copies, { recursive: true });
      for (const log of logs) appendFileSync(join(copies, log), `${line}\n`);
      const found = scanFiles(copies, [PLANTED_NUMBER]).map((hit) => hit.split(':')[0]);
      expect([...new Set(found)].sort()).toEqual(logs.sort());
    }
  });

  it('is in no table, no log and no other file after a real run, including PostgreSQL’s own files', async () => {
    await payWithAll();
    expect(await scanTables(client, tables, [...PAID_NUMBERS, ...CONTEXT])).toEqual([]);
    // The last four digits may be shown (P9). A scan of the same kind finds them, which proves that it reads the rows.
    const shown = `%**** ${PAID_NUMBERS[0]!.slice(-4)}%`;
    const { rowCount } = await client.query('SELECT 1 FROM payment_processor.payments AS t WHERE t::text LIKE $1', [
      shown,
    ]);
    expect(rowCount).toBeGreaterThan(0);

    // A checkpoint writes PostgreSQL's memory to disk. Then the files, with the write-ahead log, are scanned as bytes.
    await client.query('CREATE TABLE public.planted (text text)');
    await client.query('INSERT INTO public.planted VALUES ($1)', [PLANTED_NUMBER]);
    await client.query('CHECKPOINT');
    const found = scanFiles(platform.dataDir, [PLANTED_NUMBER]).filter((hit) => hit.startsWith('postgres/'));
    expect(found.some((hit) => hit.startsWith('postgres/base/'))).toBe(true);
    expect(found.some((hit) => hit.startsWith('postgres/pg_wal/'))).toBe(true);
    expect(scanFiles(platform.dataDir, [...PAID_NUMBERS, ...CONTEXT])).toEqual([]);
    expect(readFileSync(join(platform.dataDir, 'acquirer', 'charges.jsonl'), 'utf8')).toContain('"browser.userAgent"');
    expect(readFileSync(join(logsFolder(), 'services.log'), 'utf8')).toContain('"route":"/pay/:sessionId/payments"');
  });

  it('has hashes only in the tables of the limits against card testing, and in no log', async () => {
    const rows = await platform.sql<{ hash: string }>(
      `SELECT substring(counter_key from '[^:]+$') AS hash FROM payment_processor.velocity_counters
        WHERE counter_key ~ '^(card|range|address):'`,
    );
    const hashes = rows.map(({ hash }) => hash);
    expect(hashes.length).toBeGreaterThan(PAID_NUMBERS.length / 2);
    expect(await scanTables(client, tables, hashes)).toEqual([
      'payment_processor.attempts',
      'payment_processor.velocity_counters',
    ]);
    expect(scanFiles(logsFolder(), hashes)).toEqual([]);
    expect(scanFiles(join(platform.dataDir, 'acquirer'), hashes)).toEqual([]);
  });

  async function payWithAll(): Promise<void> {
    const merchant = gatewayClient(platform);
    const { gatewayUrl, shopUrl } = platform.demo;
    const states = await Promise.all(
      PAID_NUMBERS.map(async (cardNumber) => {
        const { redirectUrl } = await merchant.createSession(newSessionRequest(`${shopUrl}/webhooks/svc`));
        const { sessionId, body } = await preparePayRequest(redirectUrl, cardNumber);
        const withBrowser = JSON.stringify({ ...(JSON.parse(body) as object), browser: BROWSER });
        const { state } = await sendPayRequest(
          gatewayUrl,
          { sessionId, body: withBrowser },
          { 'user-agent': USER_AGENT },
        );
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
      const [left] = await platform.sql<{ open: number; sent: number }>(
        `SELECT (SELECT count(*)::int FROM payment_processor.payments WHERE state = 'processing') AS open,
                (SELECT count(*)::int FROM webhook_dispatcher.delivery_attempts) AS sent`,
      );
      return left!.open === 0 && left!.sent >= PAID_NUMBERS.length;
    });
  }

  /** Confirms the verification in the place of the payer, and returns to the page. */
  async function confirmAtTheBank(): Promise<void> {
    const [verification] = await platform.sql<{ url: string; session: string }>(
      `SELECT challenge_url AS url, payable_id AS session
         FROM payment_processor.verifications JOIN payment_processor.payments USING (payment_id)`,
    );
    const { url, session } = verification!;
    await fetch(url, { method: 'POST', body: new URLSearchParams({ answer: 'confirm' }), redirect: 'manual' });
    await fetch(`${platform.demo.gatewayUrl}/pay?sessionId=${session}`);
  }

  /**
   * A wrong integration sends the plain number in every field. The platform refuses the requests and does not store the
   * number.
   */
  async function payWithCardInTheClear(gatewayUrl: string): Promise<void> {
    const cardNumber = PAID_NUMBERS[1]!;
    const { redirectUrl } = await gatewayClient(platform).createSession(newSessionRequest('http://127.0.0.1:9/'));
    const { sessionId } = await preparePayRequest(redirectUrl);
    const clear = await sendPayRequest(gatewayUrl, {
      sessionId,
      body: JSON.stringify({ reference: sessionId, paymentNumber: 1, encryptedCard: cardNumber, cardNumber }),
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
