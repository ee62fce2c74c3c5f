import { type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import pg from 'pg';
import { isConnectionUnusable } from './transaction.js';

/** More different texts than this are not kept prepared: something then writes values into its statements. */
const STATEMENTS_MAX = 500;

const names = new Map<string, string>();

/**
 * A connection that parses and plans each statement with parameters once, and from then on only runs it. Where an
 * insert goes into a partitioned table, planning costs several times what running it does.
 *
 * A statement's text is written once and never put together from values, so there are as many as the code has.
 *
 * A connection that cannot write any more, or that the server ends, ends itself: the pool then makes a new one instead of
 * giving it to the next caller. After a failover a pool would otherwise keep read-only sessions for as long as it is busy.
 *
 * It is a span of a trace that is recorded, with its placeholders and without what stands in for them. The
 * instrumentation of pg makes its spans before it is known whether anybody wants them: a dozen for each payment.
 */
export class PreparingClient extends pg.Client {
  override query = ((text: unknown, values: unknown, callback: unknown) => {
    const name = typeof text === 'string' && Array.isArray(values) && values.length > 0 ? nameOf(text) : undefined;
    const query = name === undefined ? text : { name, text };
    const result: unknown = super.query(query as string, values as unknown[], callback as never);
    if (result instanceof Promise) {
      result.catch((error: unknown) => {
        // Before the caller sees the error: its ROLLBACK, and its release to the pool, find the connection ended.
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
