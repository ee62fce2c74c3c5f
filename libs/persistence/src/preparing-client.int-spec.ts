import { type Span, type SpanOptions, SpanStatusCode, trace, type Tracer } from '@opentelemetry/api';
import { GaugeReader, newTestDatabase, type TestDatabase } from '@svc/testing';
import { PreparingClient } from './preparing-client.js';

let database: TestDatabase;
let client: PreparingClient;
let spans: { name: string; options: SpanOptions | undefined; ended: boolean; attributes: object; status?: number }[];

beforeAll(async () => {
  database = await newTestDatabase();
  client = new PreparingClient({ connectionString: database.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await database.drop();
});
beforeEach(() => {
  spans = [];
  const startSpan = (name: string, options?: SpanOptions): Span => {
    const span = { name, options, ended: false, attributes: {}, status: SpanStatusCode.UNSET };
    spans.push(span);
    return {
      setStatus: ({ code }: { code: SpanStatusCode }) => (span.status = code),
      setAttribute: (key: string, value: unknown) => Object.assign(span.attributes, { [key]: value }),
      end: () => (span.ended = true),
    } as unknown as Span;
  };
  jest.spyOn(trace, 'getTracer').mockReturnValue({ startSpan } as unknown as Tracer);
});
afterEach(() => jest.restoreAllMocks());

function setActiveSpan(isRecording: boolean): void {
  jest.spyOn(trace, 'getActiveSpan').mockReturnValue({ isRecording: () => isRecording } as Span);
}

test('a connection prepares a statement with parameters once', async () => {
  for (const value of [1, 2, 3])
    expect((await client.query<{ number: number }>('SELECT $1::int AS number', [value])).rows).toEqual([
      { number: value },
    ]);
  const { rows } = await client.query<{ statement: string }>(
    `SELECT statement FROM pg_prepared_statements WHERE statement LIKE '%AS number'`,
  );
  expect(rows).toEqual([{ statement: 'SELECT $1::int AS number' }]);
});

test('a statement in a recorded trace has a span that contains the text of the statement, but not its values', async () => {
  setActiveSpan(true);
  await client.query('SELECT $1::text AS value', ['a secret']);
  expect(spans).toMatchObject([{ name: 'SELECT', ended: true, status: SpanStatusCode.UNSET }]);
  expect(spans[0]!.options!.attributes).toMatchObject({ 'db.query.text': 'SELECT $1::text AS value' });
  expect(JSON.stringify(spans)).not.toContain('a secret');
});

test('the span of a failed statement contains the SQLSTATE of the error, but not the message and the values', async () => {
  setActiveSpan(true);
  await expect(client.query('SELECT $1::int AS value', ['a secret'])).rejects.toThrow('invalid input syntax');
  expect(spans).toMatchObject([
    { ended: true, status: SpanStatusCode.ERROR, attributes: { 'db.response.status_code': '22P02' } },
  ]);
  expect(JSON.stringify(spans)).not.toContain('a secret');
});

test('a statement in a trace that is not recorded has no span', async () => {
  setActiveSpan(false);
  await client.query('SELECT $1::int', [1]);
  expect(spans).toEqual([]);
});

test('a statement that takes longer than a second is counted by its service and its operation, other ones are not', async () => {
  const gauges = GaugeReader.begin();
  const slow = new PreparingClient({ connectionString: database.url, application_name: 'identity' });
  await slow.connect();
  await slow.query('SELECT 1');
  await slow.query('SELECT pg_sleep(1.01)');
  await slow.query("DO $$ BEGIN PERFORM pg_sleep(1.01); RAISE EXCEPTION 'failed'; END $$").catch(() => undefined);
  await slow.end();
  const service = 'identity';
  expect(await gauges.read('svc.database.slow_statements')).toEqual([
    { value: 1, attributes: { service, operation: 'SELECT' } },
    { value: 1, attributes: { service, operation: 'other' } },
  ]);
  gauges.end();
});
