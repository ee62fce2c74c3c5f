import { type Span, type SpanOptions, SpanStatusCode, trace, type Tracer } from '@opentelemetry/api';
import { newTestDatabase, type TestDatabase } from '@svc/testing';
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

function within(isRecording: boolean): void {
  jest.spyOn(trace, 'getActiveSpan').mockReturnValue({ isRecording: () => isRecording } as Span);
}

test('a statement with parameters is prepared once for each connection', async () => {
  for (const value of [1, 2, 3])
    expect((await client.query<{ given: number }>('SELECT $1::int AS given', [value])).rows).toEqual([
      { given: value },
    ]);
  const { rows } = await client.query<{ statement: string }>(
    `SELECT statement FROM pg_prepared_statements WHERE statement LIKE '%AS given'`,
  );
  expect(rows).toEqual([{ statement: 'SELECT $1::int AS given' }]);
});

test('a statement of a recorded trace has a span, without the values', async () => {
  within(true);
  await client.query('SELECT $1::text AS told', ['a secret']);
  expect(spans).toMatchObject([{ name: 'SELECT', ended: true, status: SpanStatusCode.UNSET }]);
  expect(spans[0]!.options!.attributes).toMatchObject({ 'db.query.text': 'SELECT $1::text AS told' });
  expect(JSON.stringify(spans)).not.toContain('a secret');
});

test('the span of a failed statement contains its error code and nothing else', async () => {
  within(true);
  await expect(client.query('SELECT $1::int AS told', ['a secret'])).rejects.toThrow('invalid input syntax');
  expect(spans).toMatchObject([
    { ended: true, status: SpanStatusCode.ERROR, attributes: { 'db.response.status_code': '22P02' } },
  ]);
  expect(JSON.stringify(spans)).not.toContain('a secret');
});

test('a trace that is not recorded gets no span', async () => {
  within(false);
  await client.query('SELECT $1::int', [1]);
  expect(spans).toEqual([]);
});
