import { type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import pg from 'pg';
import { isConnectionUnusable } from './transaction.js';

/** Limit of prepared statements. Beyond it, some code writes values into its statements. */
const STATEMENTS_MAX = 500;

const names = new Map<string, string>();

/**
 * A connection that parses and plans each statement with parameters once, and then only executes it. For an insert into a
 * partitioned table, planning costs several times as much as execution.
 *
 * The text of a statement is a constant and never contains values, so there are as many as in the code.
 *
 * A connection that has become read-only, or that the server ends, closes itself: the pool then opens a new one instead of
 * handing it to the next caller. After a failover a pool would otherwise keep read-only sessions for as long as it is busy.
 *
 * Each statement is a span if its trace is recorded, with placeholders and without values. The instrumentation of pg would create
 * spans even for traces that are not recorded: a dozen for each payment.
 */
export class PreparingClient extends pg.Client {
  override query = ((text: unknown, values: unknown, callback: unknown) => {
    const name = typeof text === 'string' && Array.isArray(values) && values.length > 0 ? nameOf(text) : undefined;
    const query = name === undefined ? text : { name, text };
    const result: unknown = super.query(query as string, values as unknown[], callback as never);
    if (result instanceof Promise) {
      result.catch((error: unknown) => {
        // Before the caller gets the error: its ROLLBACK, and its release to the pool, then find the connection closed.
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
