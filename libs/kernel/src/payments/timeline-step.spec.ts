import { describeStep, findTraceId } from './timeline-step.js';

test('a step has its time with milliseconds, and only the facts that have a value', () => {
  const facts = { acquirer: 'adyen', account: null, reference: undefined, note: '', queries: 0 };
  expect(describeStep(new Date('2026-03-01T10:00:00.123Z'), 'acquirer called', facts, { traceId: null })).toEqual({
    utcDate: '2026-03-01T10:00:00.123Z',
    event: 'acquirer called',
    details: [
      { name: 'acquirer', value: 'adyen' },
      { name: 'queries', value: '0' },
    ],
  });
});

test('a long value is cut at 500 characters', () => {
  const [detail] = describeStep('2026-03-01T10:00:00Z', 'attempt', { response: 'x'.repeat(2_000) }).details;
  expect(detail!.value).toBe('x'.repeat(500));
});

test.each([
  ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', '0af7651916cd43dd8448eb211c80319c'],
  ['none', null],
  [undefined, null],
  [null, null],
])('the trace id of the trace context %p is %p', (traceparent, traceId) => {
  expect(findTraceId(traceparent)).toBe(traceId);
});
