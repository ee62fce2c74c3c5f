import { context, propagation, type Span, trace, type TracerProvider } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import type { EventEnvelope, HostedSessionSource } from '@svc/contracts';
import { digestSession } from '@svc/kernel';
import { addPaymentToSpan, continueTrace, currentTraceparent, handleWithSpans } from './tracing.js';

const SESSION_ID = '0190a1b2-0000-7000-8000-000000000001';
const payment = {
  paymentReference: 'svc-1',
  source: { kind: 'session', sessionId: SESSION_ID, merchantOrderId: 'order-7' } as HostedSessionSource,
};

function newSpan(isRecording: boolean): { span: Span; setAttributes: jest.Mock } {
  const setAttributes = jest.fn();
  return { span: { isRecording: () => isRecording, setAttributes } as unknown as Span, setAttributes };
}

test('a span has the references of its payment, with a digest of its session', () => {
  const { span, setAttributes } = newSpan(true);
  addPaymentToSpan(payment, span);
  expect(setAttributes.mock.calls).toEqual([
    [{ 'svc.payment.reference': 'svc-1', 'svc.session.digest': digestSession(SESSION_ID), 'svc.order': 'order-7' }],
  ]);
  expect(JSON.stringify(setAttributes.mock.calls)).not.toContain(SESSION_ID);
});

test('a span that is not recorded, and code without a span, cost nothing', () => {
  const { span, setAttributes } = newSpan(false);
  addPaymentToSpan(payment, span);
  addPaymentToSpan(payment);
  expect(setAttributes).not.toHaveBeenCalled();
});

describe('a stored trace', () => {
  const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331';
  const SPAN_ID = '00f067aa0ba902b7';
  const startedSpans: string[] = [];

  beforeAll(() => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    propagation.setGlobalPropagator(new W3CTraceContextPropagator());
    const startSpan = (name: string, _options: unknown, parent = context.active()): Span => {
      startedSpans.push(name);
      return trace.wrapSpanContext({ ...trace.getSpanContext(parent)!, spanId: SPAN_ID });
    };
    const startActiveSpan = (name: string, options: unknown, parent: typeof context, action: (span: Span) => unknown) =>
      action(startSpan(name, options, parent as never));
    trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan, startActiveSpan }) } as unknown as TracerProvider);
  });

  beforeEach(() => startedSpans.splice(0));

  afterAll(() => {
    context.disable();
    propagation.disable();
    trace.disable();
  });

  const newEvent = (flags: string) =>
    ({ id: '1', type: 'payment.succeeded', payload: {}, traceparent: `${TRACE}-${flags}` }) as unknown as EventEnvelope;

  test('that is sampled has a span for each event and each continued request', async () => {
    const event = newEvent('01');
    const sent = await handleWithSpans([event], () => Promise.resolve(currentTraceparent()));
    expect(sent).toBe(`00-0af7651916cd43dd8448eb211c80319c-${SPAN_ID}-01`);
    await continueTrace(event.traceparent, 'notify merchant', () => Promise.resolve());
    expect(startedSpans).toEqual(['process payment.succeeded', 'notify merchant']);
  });

  test('that is not sampled goes on without spans', async () => {
    const event = newEvent('00');
    const sent = await handleWithSpans([event], () => Promise.resolve(currentTraceparent()));
    const continued = await continueTrace(event.traceparent, 'notify merchant', () =>
      Promise.resolve(currentTraceparent()),
    );
    expect([sent, continued]).toEqual([event.traceparent, event.traceparent]);
    expect(startedSpans).toEqual([]);
  });

  test('is not the active one while a batch is handled, because its events have several', async () => {
    const sent = await handleWithSpans([newEvent('01'), newEvent('00')], () => Promise.resolve(currentTraceparent()));
    expect(sent).toBeUndefined();
    expect(startedSpans).toEqual(['process payment.succeeded']);
  });
});
