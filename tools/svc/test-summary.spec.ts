import { closingLine, phaseTable, summarise } from './test-summary.ts';
import type { JestReport } from './test-summary.ts';
import { needsOf } from './test.ts';

const report = (statuses: string[], over: Partial<JestReport> = {}): JestReport => ({
  numPassedTests: statuses.filter((status) => status === 'passed').length,
  numFailedTests: statuses.filter((status) => status === 'failed').length,
  testResults: [
    {
      name: 'pay.spec.ts',
      status: statuses.includes('failed') ? 'failed' : 'passed',
      assertionResults: statuses.map((status, index) => ({ fullName: `test ${index}`, status })),
    },
  ],
  ...over,
});

describe('the sum of a test run', () => {
  it('counts what passed and what failed', () => {
    expect(summarise(report(['passed', 'failed', 'passed']), 1)).toEqual({ passed: 2, failed: 1, complaints: [] });
  });

  it.each(['pending', 'todo', 'skipped', 'disabled'])('counts a test that is %s as failed, and names it', (status) => {
    const summary = summarise(report(['passed', status]), 0);
    expect(summary).toMatchObject({ passed: 1, failed: 1 });
    expect(summary.complaints[0]).toContain('test 1');
  });

  it('counts a file that could not be run', () => {
    const broken = { name: 'broken.spec.ts', status: 'failed', assertionResults: [] };
    expect(summarise(report([], { testResults: [broken] }), 1)).toMatchObject({ failed: 1 });
  });

  it('does not take a bad end without a failed test for a success', () => {
    expect(summarise(report(['passed']), 1)).toMatchObject({ passed: 1, failed: 1 });
    expect(summarise(undefined, 0)).toMatchObject({ failed: 1 });
    expect(summarise(report([]), 0)).toMatchObject({ failed: 1 });
  });

  it('counts a run that had to be ended, and says why', () => {
    expect(summarise(report(['passed']), 1, 'left open')).toEqual({ passed: 1, failed: 1, complaints: ['left open'] });
    expect(summarise(undefined, 1, 'took too long')).toEqual({ passed: 0, failed: 1, complaints: ['took too long'] });
  });

  it('closes with one plain line', () => {
    expect(closingLine([summarise(report(['passed', 'passed']), 0), summarise(report(['passed', 'failed']), 1)])).toBe(
      '3 passed, 1 failed',
    );
  });
});

test('where the time went is a line for each phase', () => {
  const run = summarise(report(['passed', 'failed']), 1);
  expect(
    phaseTable([
      { name: 'preparing', seconds: 41.04 },
      { name: 'unit and integration', seconds: 130.96, run },
    ]),
  ).toBe(
    [
      'phase                seconds passed failed',
      'preparing               41.0',
      'unit and integration   131.0      1      1',
      'all                    172.0',
    ].join('\n'),
  );
});

describe('what selected tests need', () => {
  it.each([
    ['libs/kernel/src/money.spec.ts', { database: false, broker: false, browser: false }],
    ['libs/messaging/src/relay.int-spec.ts', { database: true, broker: false, browser: false }],
    ['libs/messaging/src/contract/rabbitmq-faults.int-spec.ts', { database: true, broker: true, browser: false }],
    ['e2e/page-states.timed.e2e-spec.ts', { database: true, broker: true, browser: true }],
    ['apps/webhook-dispatcher/src/isolation.timed.int-spec.ts', { database: true, broker: false, browser: false }],
    ['e2e/src/pay.e2e-spec.ts', { database: true, broker: true, browser: true }],
  ])('is told from the name of %s', (file, needs) => {
    expect(needsOf(['/r/libs/kernel/src/clock.spec.ts', `/r/${file}`])).toEqual(needs);
  });
});
