import { availableParallelism } from 'node:os';
import { needsOf } from './test.ts';
import type { TestFile } from './test-reporter.ts';
import { closingLine, failureList, summarise, summariseMissing, timeTable } from './test-summary.ts';

const file = (over: Partial<TestFile> = {}): TestFile => ({
  project: 'unit',
  path: 'pay.spec.ts',
  seconds: 1,
  passed: 1,
  failed: 0,
  notRun: [],
  failures: [],
  broken: false,
  ...over,
});

describe('the summary of a test run', () => {
  it('counts passed and failed tests', () => {
    expect(summarise([file({ passed: 2, failed: 1 }), file()], 1)).toMatchObject({
      passed: 3,
      failed: 1,
      complaints: [],
    });
  });

  it('counts a test as failed if it did not run, and lists it', () => {
    const summary = summarise([file({ notRun: ['a refund (todo)', 'a void (pending)'] })], 0);
    expect(summary).toMatchObject({ passed: 1, failed: 2 });
    expect(summary.complaints).toEqual([
      'not run: a refund (todo) in pay.spec.ts',
      'not run: a void (pending) in pay.spec.ts',
    ]);
  });

  it('counts a file as failed if it could not run', () => {
    const summary = summarise([file(), file({ passed: 0, broken: true, path: 'broken.spec.ts' })], 1);
    expect(summary).toMatchObject({ passed: 1, failed: 1, complaints: ['could not be run: broken.spec.ts'] });
  });

  it('counts a run as failed if its exit code is not 0, or if it has no report or no tests', () => {
    expect(summarise([file()], 1)).toMatchObject({ passed: 1, failed: 1 });
    expect(summarise(undefined, 0)).toMatchObject({ failed: 1 });
    expect(summarise([], 0)).toMatchObject({ failed: 1 });
  });

  it('counts a killed run as failed, and contains the reason', () => {
    expect(summarise([file()], 1, 'left open')).toMatchObject({ passed: 1, failed: 1, complaints: ['left open'] });
    expect(summarise(undefined, 1, 'took too long')).toMatchObject({ failed: 1, complaints: ['took too long'] });
  });

  it('counts tests that could not run as a failure, and lists them', () => {
    const runs = [summarise([file()], 0), summariseMissing('the tests of postgres-15')];
    expect([closingLine(runs), failureList(runs)]).toEqual([
      '1 passed, 1 failed',
      ['not run: the tests of postgres-15'],
    ]);
  });

  it('lists all failures', () => {
    const runs = [
      summarise([file({ failed: 1, failures: ['a refund is sent'] }), file({ notRun: ['a void (todo)'] })], 1),
    ];
    expect(failureList(runs)).toEqual([
      '✗ unit pay.spec.ts: a refund is sent',
      'not run: a void (todo) in pay.spec.ts',
    ]);
  });

  it('has the numbers of passed and failed tests in its last line', () => {
    expect(closingLine([summarise([file({ passed: 2 })], 0), summarise([file({ failed: 1 })], 1)])).toBe(
      '3 passed, 1 failed',
    );
  });
});

describe('the table of times', () => {
  const fast = file({ passed: 5 });
  const slow = file({ project: 'integration', path: 'slow.int-spec.ts', seconds: 9.5, failed: 1 });

  it('has a line for each phase and project, and lists the slowest files', () => {
    const runs = [summarise([fast, slow], 1)];
    const preparing = { name: 'preparing', seconds: 30, busy: 0.5, runs: [] };
    expect(timeTable([preparing, { name: 'tests', seconds: 10, busy: 0.9, runs }])).toBe(
      [
        '               seconds     busy    files   passed   failed',
        'preparing         30.0     50 %',
        'tests             10.0     90 %',
        '  unit             1.0                 1        5        0',
        '  integration      9.5                 1        1        1',
        'all               40.0     60 %        2        6        1',
        '',
        'the slowest files',
        '     9.5  integration  slow.int-spec.ts',
        '     1.0  unit  pay.spec.ts',
      ].join('\n'),
    );
  });

  it('shows the duration of a whole run without the installation of packages', () => {
    const phases = ['installing', 'tests'].map((name) => ({ name, seconds: 30, busy: 0.5, runs: [] }));
    expect(timeTable(phases)).toBe(
      [
        '                    seconds     busy    files   passed   failed',
        'installing             30.0     50 %',
        'tests                  30.0     50 %',
        'all                    60.0     50 %        0        0        0',
        'all but installing     30.0',
      ].join('\n'),
    );
  });

  it('lists at most ten files', () => {
    const files = Array.from({ length: 30 }, (_, index) => file({ seconds: index, path: `${index}.spec.ts` }));
    const lines = timeTable([{ name: 'tests', seconds: 10, busy: 1, runs: [summarise(files, 0)] }]).split('\n');
    expect(lines.slice(lines.indexOf('the slowest files') + 1)).toEqual(
      [29, 28, 27, 26, 25, 24, 23, 22, 21, 20].map((index) => expect.stringContaining(` ${index}.spec.ts`)),
    );
  });
});

describe('the requirements of selected tests', () => {
  const nothing = { databases: 0, oldestDatabase: false, broker: 'none', platform: false };
  it.each([
    ['libs/kernel/src/money.spec.ts', nothing],
    ['libs/messaging/src/relay.int-spec.ts', { ...nothing, databases: 1 }],
    ['libs/messaging/test/rabbitmq/rabbitmq-faults.int-spec.ts', { ...nothing, databases: 1, broker: 'started' }],
    ['apps/identity/src/rabbitmq-replicas.int-spec.ts', { ...nothing, databases: 1, broker: 'started' }],
    ['deploy/rabbitmq-permissions.int-spec.ts', { ...nothing, databases: 1, broker: 'installed' }],
    ['e2e/page-states.timed.e2e-spec.ts', { ...nothing, broker: 'installed', platform: true }],
    ['apps/webhook-dispatcher/src/isolation.timed.int-spec.ts', { ...nothing, databases: 1 }],
    ['e2e/src/pay.e2e-spec.ts', { ...nothing, broker: 'installed', platform: true }],
  ])('depend on the file name %s', (path, needs) => {
    expect(needsOf(['/r/libs/kernel/src/clock.spec.ts', `/r/${path}`])).toEqual(needs);
  });

  it('include a database for each worker, but at most one for each file', () => {
    const files = Array.from({ length: 100 }, (_, index) => `/r/${index}.int-spec.ts`);
    expect(needsOf(files).databases).toBe(availableParallelism());
  });

  it('include the oldest PostgreSQL when it is selected', () => {
    expect(needsOf(['/r/plans.int-spec.ts'], true)).toEqual({ ...nothing, databases: 1, oldestDatabase: true });
  });
});
