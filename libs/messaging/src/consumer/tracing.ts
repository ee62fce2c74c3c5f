import { context, propagation, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { EventEnvelope } from '@svc/contracts';

const tracer = trace.getTracer('@svc/messaging');

/**
 * Handles events, each as a span of the trace of the request that caused it, so that a trace covers every service. A batch
 * contains events of many requests, so it has many spans and, unless it is a single event, no active one. Costs next to nothing
 * while telemetry is off.
 */
export async function inTraceOf<T>(events: readonly EventEnvelope[], handle: () => Promise<T>): Promise<T> {
  const spans = events.flatMap(startSpan);
  const [only] = spans;
  try {
    return await (only && events.length === 1 ? context.with(trace.setSpan(ROOT_CONTEXT, only), handle) : handle());
  } catch (error) {
    for (const span of spans) span.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    for (const span of spans) span.end();
  }
}

function startSpan(event: EventEnvelope): Span[] {
  if (event.traceparent === undefined) return [];
  const cause = propagation.extract(ROOT_CONTEXT, { traceparent: event.traceparent });
  const attributes = { 'messaging.message.id': event.id, 'messaging.operation.type': 'process' };
  return [tracer.startSpan(`process ${event.type}`, { kind: SpanKind.CONSUMER, attributes }, cause)];
}

/** The active trace, to be stored with new objects; undefined while telemetry is off. */
export function currentTraceparent(): string | undefined {
  const carrier: { traceparent?: string } = {};
  propagation.inject(context.active(), carrier);
  return carrier.traceparent;
}

/**
 * Continues a stored trace in another request: the payer's click on Pay belongs to the trace in which the merchant created the
 * session. The span links to the trace of the current request.
 */
export function continueTrace<T>(
  traceparent: string | null | undefined,
  name: string,
  work: () => Promise<T>,
): Promise<T> {
  if (!traceparent) return work();
  const kept = propagation.extract(ROOT_CONTEXT, { traceparent });
  const here = trace.getSpanContext(context.active());
  return tracer.startActiveSpan(name, { links: here ? [{ context: here }] : [] }, kept, async (span) => {
    try {
      return await work();
    } finally {
      span.end();
    }
  });
}
