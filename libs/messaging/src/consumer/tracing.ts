import {
  type Attributes,
  type Context,
  context,
  isSpanContextValid,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
} from '@opentelemetry/api';
import type { EventEnvelope, HostedSessionSource, PaymentSnapshot } from '@svc/contracts';
import { digestSession, type TraceableReferences, traceableReferences } from '@svc/kernel';

const tracer = trace.getTracer('@svc/messaging');

/**
 * Runs `handle` with a span for each event, in the trace of the request that caused the event, so that a trace covers
 * all services. A batch contains events of several requests, so it has several spans. A trace is the active one only if
 * the batch has one event. The function costs almost nothing while telemetry is off, and little if the trace is not
 * sampled.
 */
export async function handleWithSpans<T>(events: readonly EventEnvelope[], handle: () => Promise<T>): Promise<T> {
  const contexts = events.flatMap(startSpan);
  const spans = contexts.flatMap((each) => trace.getSpan(each) ?? []);
  const [singleContext] = contexts;
  try {
    return await (singleContext && events.length === 1 ? context.with(singleContext, handle) : handle());
  } catch (error) {
    for (const span of spans) span.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    for (const span of spans) span.end();
  }
}

/** The context of the event's trace, with a span of its own if the trace is sampled. Empty if the event has no trace. */
function startSpan(event: EventEnvelope): Context[] {
  if (event.traceparent === undefined) return [];
  const causeContext = propagation.extract(ROOT_CONTEXT, { traceparent: event.traceparent });
  if (!isSampled(causeContext)) return [causeContext];
  const attributes = { 'messaging.message.id': event.id, 'messaging.operation.type': 'process' };
  const span = tracer.startSpan(`process ${event.type}`, { kind: SpanKind.CONSUMER, attributes }, causeContext);
  if (isPayment(event.payload)) addPaymentToSpan(event.payload, span);
  return [trace.setSpan(causeContext, span)];
}

/** Whether a span in this trace would be recorded: samplers by parent and by trace id decide as the trace's first span did. */
function isSampled(traceContext: Context): boolean {
  return ((trace.getSpanContext(traceContext)?.traceFlags ?? TraceFlags.NONE) & TraceFlags.SAMPLED) !== 0;
}

function isPayment(payload: unknown): payload is PaymentSnapshot {
  return typeof (payload as { paymentReference?: unknown } | null)?.paymentReference === 'string';
}

/** Adds the references by which an operator finds the trace of a payment, by default to the active span. */
export function addPaymentToSpan(
  payment: Parameters<typeof traceableReferences>[0],
  span: Span | undefined = trace.getActiveSpan(),
): void {
  if (span?.isRecording() === true) addReferencesToSpan(traceableReferences(payment), span);
}

/** As {@link addPaymentToSpan}, for a session that has no payment yet. */
export function addSessionToSpan(session: Pick<HostedSessionSource, 'sessionId' | 'merchantOrderId'>): void {
  const span = trace.getActiveSpan();
  const { sessionId, merchantOrderId: order } = session;
  if (span?.isRecording() === true) addReferencesToSpan({ session: digestSession(sessionId), order }, span);
}

/** As {@link addPaymentToSpan}, with references that are known already. */
export function addReferencesToSpan(
  { paymentReference, session, order }: Partial<TraceableReferences>,
  span: Span | undefined = trace.getActiveSpan(),
): void {
  const attributes: Attributes = {};
  if (paymentReference !== undefined) attributes['svc.payment.reference'] = paymentReference;
  if (session !== undefined) attributes['svc.session.digest'] = session;
  if (order !== undefined) attributes['svc.order'] = order;
  span?.setAttributes(attributes);
}

/** The `traceparent` of the active trace, to be stored with a new object. Undefined while telemetry is off. */
export function currentTraceparent(): string | undefined {
  const carrier: { traceparent?: string } = {};
  propagation.inject(context.active(), carrier);
  return carrier.traceparent;
}

/** The id of the active trace, 32 hexadecimal digits. Undefined while telemetry is off. */
export function currentTraceId(): string | undefined {
  const span = trace.getSpanContext(context.active());
  return span && isSpanContextValid(span) ? span.traceId : undefined;
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
  if (!isSampled(storedContext)) return context.with(storedContext, action);
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
