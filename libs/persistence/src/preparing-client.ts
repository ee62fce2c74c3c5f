import { type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import pg from 'pg';
import { isConnectionUnusable } from './transaction.js';

/** Limit of prepared statements. More different texts mean that some code writes values into its statements. */
const STATEMENTS_MAX = 500;

const names = new Map<string, string>();

/**
 * A connection that prepares each statement with parameters once: it is parsed and planned only once. For an insert into a
 * partitioned table, planning costs several times as much as execution.
 *
 * The texts of statements are constant and contain no values, so their number is limited.
 *
 * A connection that has become read-only, or that the server terminates, closes itself, so that the pool replaces it. Otherwise a busy
 * pool would keep read-only sessions after a failover.
 *
 * Each statement is a span of a recorded trace, with its placeholders and without values. The instrumentation of pg would create its
 * spans even if the trace is not recorded: a dozen for each payment.
 */
export class PreparingClient extends pg.Client {
  override query = ((text: unknown, values: unknown, callback: unknown) => {
    const name = typeof text === 'string' && Array.isArray(values) && values.length > 0 ? nameOf(text) : undefined;
    const query = name === undefined ? text : { name, text };
    const result: unknown = super.query(query as string, values as unknown[], callback as never);
    if (result instanceof Promise) {
      result.catch((error: unknown) => {
        // Close the connection before the caller sees the error, so that its ROLLBACK and its release to the pool find it closed.
        if (isConnectionUnusable(error)) void this.end();
      });
      if (typeof text === 'string' && trace.getActiveSpan()?.isRecording() === true) record(text, result);
    }
    return result;
  }) as pg.Client['query'];
}

function record(text: string, result: Promise<unknown>): void {
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

function nameOf(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.size >= STATEMENTS_MAX) return known;
  const name = `s${names.size + 1}`;
  names.set(text, name);
  return name;
}
