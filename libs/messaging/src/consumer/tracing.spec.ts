import type { Span } from '@opentelemetry/api';
import type { HostedSessionSource } from '@svc/contracts';
import { digestSession } from '@svc/kernel';
import { addPaymentToSpan } from './tracing.js';

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
