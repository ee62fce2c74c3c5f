import { describeStep } from '@svc/kernel';
import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { FoundSubject, OperatorTimeline } from './timeline.js';
import { TimelineTable } from './timeline-table.js';

const SUBJECT: FoundSubject = {
  kind: 'payment',
  reference: '01KJMWQ3T0ABCDEFGH',
  utcDate: '2026-03-01T09:00:00.000Z',
  mode: 'test',
  merchantId: 1001,
  siteId: 5001,
  amount: 12_345,
  currencyISOCode: 'ZAR',
  state: 'success',
  orderReference: 'order-17',
  payableId: '0b6c3f4e-6f2a-4c3b-9d1e-7a8b9c0d1e2f',
  source: 'session',
  code: '01234567890123456789',
  merchantName: 'Karoo Books',
  siteName: 'Shop',
};
const render = (changes: Partial<OperatorTimeline>): string =>
  renderToString(h(TimelineTable, { timeline: { subject: SUBJECT, entries: [], missing: [], ...changes } }));

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';

test('each entry has its time in UTC with milliseconds, its service, its amount and its trace', () => {
  const step = describeStep('2026-03-01T09:00:00.123Z', 'acquirer called', { acquirer: 'adyen' }, { amount: 123_450 });
  const html = render({ entries: [{ ...step, service: 'payment-processor', traceId: TRACE_ID, requestId: 'r-1' }] });
  expect(html).toBe(
    '<ol class="timeline"><li><time datetime="2026-03-01T09:00:00.123Z">2026-03-01 09:00:00.123</time>' +
      '<div><strong>acquirer called</strong> R\u00a01\u00a0234.50 <small>payment-processor</small>' +
      `<small>acquirer adyen</small><small>trace <code>${TRACE_ID}</code></small>` +
      '<small>request <code>r-1</code></small></div></li></ol>',
  );
});

test('an entry without an outcome says so, and the answer of an endpoint is escaped', () => {
  const step = describeStep('2026-03-01T09:00:00Z', 'attempt', { response: '<script>' }, { isOpen: true });
  const html = render({ entries: [{ ...step, service: 'webhook-dispatcher' }] });
  expect(html).toContain('(no outcome yet)');
  expect(html).toContain('<pre>&lt;script></pre>');
});

test('a missing part is a notice, which screen readers read', () => {
  const html = render({ missing: [{ service: 'webhook-dispatcher', part: 'the notifications' }] });
  expect(html).toContain('role="alert">webhook-dispatcher does not respond. Missing: the notifications.</p>');
});
