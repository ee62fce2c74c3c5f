import { type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import pg from 'pg';
import { isConnectionUnusable } from './transaction.js';

/**
 * Maximum number of prepared statements. This number is reached only if some code writes values into the texts of its
 * statements.
 */
const MAX_STATEMENTS = 500;

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
  override query = ((text: unknown, values: unknown, callback: unknown) => {
    const name =
      typeof text === 'string' && Array.isArray(values) && values.length > 0 ? statementName(text) : undefined;
    const query = name === undefined ? text : { name, text };
    const result: unknown = super.query(query as string, values as unknown[], callback as never);
    if (result instanceof Promise) {
      result.catch((error: unknown) => {
        // The connection is closed before the caller gets the error, so that the caller cannot use it for a ROLLBACK or
        // return it to the pool.
        if (isConnectionUnusable(error)) void this.end();
      });
      if (typeof text === 'string' && trace.getActiveSpan()?.isRecording() === true) recordSpan(text, result);
    }
    return result;
  }) as pg.Client['query'];
}

function recordSpan(text: string, result: Promise<unknown>): void {
  const operation = /\w+/.exec(text)?.[0]?.toUpperCase() ?? 'STATEMENT';
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
