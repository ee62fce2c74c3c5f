import { context, propagation, ROOT_CONTEXT, trace, TraceFlags } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';

/** Enables trace propagation, as the telemetry of a service does. Returns a function that disables it. */
export function startTraces(): () => void {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  return () => {
    context.disable();
    propagation.disable();
  };
}

/** Returns a W3C traceparent header. Its trace id and its span id end with `number`. */
export function buildTraceparent(number: number): string {
  return `00-${String(number).padStart(32, 'a')}-${String(number).padStart(16, 'b')}-01`;
}

/** Runs the callback in the trace of {@link buildTraceparent}. */
export function runInTrace<T>(number: number, callback: () => T): T {
  const [, traceId, spanId] = buildTraceparent(number).split('-') as [string, string, string, string];
  return context.with(
    trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: TraceFlags.SAMPLED }),
    callback,
  );
}
