import { type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { METRICS } from '@svc/contracts';
import { type Counter, createCounter } from '@svc/kernel';
import pg from 'pg';
import { isConnectionUnusable } from './transaction.js';

/**
 * Maximum number of prepared statements. This number is reached only if some code writes values into the texts of its
 * statements.
 */
const MAX_STATEMENTS = 500;
/** A statement that takes longer is counted. */
const SLOW_MS = 1_000;

const statementNames = new Map<string, string>();

/**
 * A connection that prepares each statement with parameters, so that the statement is parsed and planned only once. The
 * planning of an insert into a partitioned table takes several times as long as its execution.
 *
 * There are only few different statements, because their texts are constant and contain no values.
 *
 * A connection that has become read-only, or that the server terminates, closes itself, so that the pool replaces it.
 * Otherwise a busy pool would still use read-only sessions after a failover.
 *
 * In a recorded trace, each statement has a span with its text, but without its values. OpenTelemetry's instrumentation
 * of pg is not used, because it creates spans even if the trace is not recorded.
 */
export class PreparingClient extends pg.Client {
  private readonly slowStatements: Counter<'svc.database.slow_statements'>;
  private readonly service: string;

  constructor(config: pg.ClientConfig) {
    super(config);
    this.slowStatements = createCounter('svc.database.slow_statements');
    this.service = config.application_name ?? '';
  }

  override query = ((text: unknown, values: unknown, callback: unknown) => {
    const name =
      typeof text === 'string' && Array.isArray(values) && values.length > 0 ? statementName(text) : undefined;
    const query = name === undefined ? text : { name, text };
    const startedAt = performance.now();
    const result: unknown = super.query(query as string, values as unknown[], callback as never);
    if (result instanceof Promise) {
      result.then(
        () => this.countIfSlow(text, startedAt),
        (error: unknown) => {
          // The connection is closed before the caller gets the error, so that the caller cannot use it for a ROLLBACK or
          // return it to the pool.
          if (isConnectionUnusable(error)) void this.end();
          this.countIfSlow(text, startedAt);
        },
      );
      if (typeof text === 'string' && trace.getActiveSpan()?.isRecording() === true) recordSpan(text, result);
    }
    return result;
  }) as pg.Client['query'];

  /** Statements that contain values, such as SET, have no text that could be an operation. */
  private countIfSlow(text: unknown, startedAt: number): void {
    if (performance.now() - startedAt < SLOW_MS) return;
    const operation = typeof text === 'string' ? operationOf(text) : 'other';
    this.slowStatements.add(1, { service: this.service, operation: isCounted(operation) ? operation : 'other' });
  }
}

const COUNTED = METRICS['svc.database.slow_statements'].labels.operation.values;
const isCounted = (operation: string): operation is (typeof COUNTED)[number] =>
  (COUNTED as readonly string[]).includes(operation);

const operationOf = (text: string): string => /\w+/.exec(text)?.[0]?.toUpperCase() ?? 'STATEMENT';

function recordSpan(text: string, result: Promise<unknown>): void {
  const operation = operationOf(text);
  const span: Span = trace.getTracer('@svc/persistence').startSpan(operation, {
    kind: SpanKind.CLIENT,
    attributes: { 'db.system.name': 'postgresql', 'db.operation.name': operation, 'db.query.text': text },
  });
  result.then(
    () => span.end(),
    (error: { code?: string }) => {
      span.setStatus({ code: SpanStatusCode.ERROR });
      if (error.code !== undefined) span.setAttribute('db.response.status_code', error.code);
      span.end();
    },
  );
}

function statementName(text: string): string | undefined {
  const existing = statementNames.get(text);
  if (existing !== undefined || statementNames.size >= MAX_STATEMENTS) return existing;
  const name = `s${statementNames.size + 1}`;
  statementNames.set(text, name);
  return name;
}
