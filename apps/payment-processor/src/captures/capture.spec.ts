import fc from 'fast-check';
import {
  CAPTURE_OVERDUE_MS,
  CAPTURE_TRANSITIONS,
  type CaptureConclusion,
  concludeReport,
  nextRequestAt,
  type ReportedCapture,
} from './capture.js';

const NOW = new Date('2026-03-01T10:00:00.000Z');
const delayAfter = (result: 'received' | 'rejected' | 'unknown', requests: number): number =>
  nextRequestAt(result, requests, NOW).getTime() - NOW.getTime();

test('a request that was not received is repeated after 1 s, 5 s, 30 s and then every 5 min', () => {
  expect([1, 2, 3, 4, 5, 100].map((requests) => delayAfter('unknown', requests))).toEqual([
    1_000, 5_000, 30_000, 300_000, 300_000, 300_000,
  ]);
});

test('a request that was rejected is repeated after an hour, and one that was received is overdue after a day', () => {
  expect([1, 2, 50].map((requests) => delayAfter('rejected', requests))).toEqual([3_600_000, 3_600_000, 3_600_000]);
  expect([1, 2, 50].map((requests) => delayAfter('received', requests))).toEqual([86_400_000, 86_400_000, 86_400_000]);
});

const buildCapture = (change: Partial<ReportedCapture> = {}): ReportedCapture => ({
  state: 'requested',
  failure: undefined,
  captureReference: 'capture-1',
  requests: 1,
  createdAt: NOW,
  ...change,
});
const FAILED = { state: 'failed' } as const;
const CAPTURES: Readonly<Record<string, ReportedCapture>> = {
  due: buildCapture({ state: 'due' }),
  requested: buildCapture(),
  'requested twice': buildCapture({ requests: 2 }),
  'requested twice, a day old': buildCapture({
    requests: 2,
    createdAt: new Date(NOW.getTime() - CAPTURE_OVERDUE_MS),
  }),
  captured: buildCapture({ state: 'captured' }),
  'rejected by the card scheme': buildCapture({ ...FAILED, failure: 'cardScheme' }),
  'rejected by the card scheme under another reference': buildCapture({
    ...FAILED,
    failure: 'cardScheme',
    captureReference: 'capture-0',
  }),
  rejected: buildCapture({ ...FAILED, failure: 'rejected' }),
};

test.each<[string, CaptureConclusion, CaptureConclusion, CaptureConclusion, CaptureConclusion]>([
  // Reports: captured, captured again by the acquirer itself, refused, failed.
  ['due', 'captured', 'captured', 'rejected', 'cardScheme'],
  ['requested', 'captured', 'captured', 'rejected', 'cardScheme'],
  ['requested twice', 'captured', 'captured', 'requestAgain', 'cardScheme'],
  ['requested twice, a day old', 'captured', 'captured', 'rejected', 'cardScheme'],
  ['captured', 'none', 'none', 'none', 'cardScheme'],
  ['rejected by the card scheme', 'none', 'incident', 'none', 'none'],
  ['rejected by the card scheme under another reference', 'incident', 'incident', 'none', 'none'],
  ['rejected', 'incident', 'incident', 'none', 'none'],
])('the effects of reports on a capture that is %s', (name, captured, recaptured, refused, failed) => {
  const conclude = (report: Omit<Parameters<typeof concludeReport>[1], 'acquirerReference'>) =>
    concludeReport(CAPTURES[name]!, { ...report, acquirerReference: 'capture-1' }, NOW);
  expect([
    conclude({ outcome: 'captured' }),
    conclude({ outcome: 'captured', isRecapture: true }),
    conclude({ outcome: 'refused' }),
    conclude({ outcome: 'failed' }),
  ]).toEqual([captured, recaptured, refused, failed]);
});

test('the order and repetition of reports about the same capture do not change the final state', () => {
  const reports = fc.array(fc.constantFrom('captured' as const, 'failed' as const), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(reports, fc.constantFrom('due' as const, 'requested' as const), (order, start) => {
      const end = order.reduce(
        (capture, outcome): ReportedCapture => {
          const conclusion = concludeReport(capture, { outcome, acquirerReference: 'capture-1' }, NOW);
          if (conclusion === 'captured') return { ...capture, state: 'captured' };
          return conclusion === 'cardScheme' ? { ...capture, ...FAILED, failure: conclusion } : capture;
        },
        buildCapture({ state: start }),
      );
      expect(end.state).toBe(order.includes('failed') ? 'failed' : 'captured');
    }),
  );
});

test('nothing changes a failure', () => expect(CAPTURE_TRANSITIONS.failed).toEqual([]));
