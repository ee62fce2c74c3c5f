import { context, propagation, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { EventEnvelope } from '@svc/contracts';

const tracer = trace.getTracer('@svc/messaging');

/**
 * Runs `handle` with a span for each event, in the trace of the request that caused the event, so that a trace covers
 * all services. A batch contains events of several requests, so it has several spans. A span is the active span only if
 * the batch has one event. The function costs almost nothing while telemetry is off.
 */
export async function handleWithSpans<T>(events: readonly EventEnvelope[], handle: () => Promise<T>): Promise<T> {
  const spans = events.flatMap(startSpan);
  const [singleSpan] = spans;
  try {
    return await (singleSpan && events.length === 1
      ? context.with(trace.setSpan(ROOT_CONTEXT, singleSpan), handle)
      : handle());
  } catch (error) {
    for (const span of spans) span.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    for (const span of spans) span.end();
  }
}

function startSpan(event: EventEnvelope): Span[] {
  if (event.traceparent === undefined) return [];
  const causeContext = propagation.extract(ROOT_CONTEXT, { traceparent: event.traceparent });
  const attributes = { 'messaging.message.id': event.id, 'messaging.operation.type': 'process' };
  return [tracer.startSpan(`process ${event.type}`, { kind: SpanKind.CONSUMER, attributes }, causeContext)];
}

/** The `traceparent` of the active trace, to be stored with a new object. Undefined while telemetry is off. */
export function currentTraceparent(): string | undefined {
  const carrier: { traceparent?: string } = {};
  propagation.inject(context.active(), carrier);
  return carrier.traceparent;
}

/**
 * Continues a stored trace in another request: the payer's click on Pay belongs to the trace in which the merchant
 * created the session. The span links to the trace of the current request.
 */
export function continueTrace<T>(
  traceparent: string | null | undefined,
  name: string,
  action: () => Promise<T>,
): Promise<T> {
  if (!traceparent) return action();
  const storedContext = propagation.extract(ROOT_CONTEXT, { traceparent });
  const currentSpan = trace.getSpanContext(context.active());
  return tracer.startActiveSpan(
    name,
    { links: currentSpan ? [{ context: currentSpan }] : [] },
    storedContext,
    async (span) => {
      try {
        return await action();
      } finally {
        span.end();
      }
    },
  );
}
