import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { needsOf } from './test.ts';
import { closingLine, type JestReport, summarise, summariseMissing, timeTable } from './test-summary.ts';

type File = JestReport['testResults'][number];
const test = (status: string, fullName = 'a refund', error?: string) => ({
  fullName,
  status,
  failureMessages: error === undefined ? [] : [error],
});
const file = (tests: File['assertionResults'], over: Partial<File> = {}): File => {
  const message = tests.some(({ status }) => status === 'failed') ? 'a test failed' : '';
  return {
    name: join(process.cwd(), 'pay.spec.ts'),
    startTime: 0,
    endTime: 1_000,
    message,
    assertionResults: tests,
    ...over,
  };
};
const PASSED = file([test('passed')]);
const run = (files: readonly File[], exitCode = 0, stuck?: string) =>
  summarise({ testResults: files }, exitCode, stuck);

describe('the summary of a test run', () => {
  it('counts passed and failed tests, and lists the failed tests with the beginning of their errors', () => {
    const lines = Array.from({ length: 9 }, (_, index) => `line ${index + 1}`);
    const failed = test('failed', 'a refund is sent', ['Error: 1 cent', '', ...lines].join('\n'));
    expect(run([file([test('passed'), test('passed'), failed]), PASSED], 1)).toEqual({
      passed: 3,
      failed: 1,
      failures: [
        [
          '✗ pay.spec.ts: a refund is sent',
          '    Error: 1 cent',
          ...lines.slice(0, 7).map((line) => `    ${line}`),
        ].join('\n'),
      ],
      files: Array(2).fill({ path: 'pay.spec.ts', seconds: 1 }),
    });
  });

  it('counts a test as failed if it did not run, and lists it', () => {
    const tests = [test('passed'), test('todo'), test('pending', 'a void')];
    expect(run([file(tests)])).toMatchObject({
      passed: 1,
      failed: 2,
      failures: ['not run: a refund (todo) in pay.spec.ts', 'not run: a void (pending) in pay.spec.ts'],
    });
  });

  it('counts a file as failed if it could not run', () => {
    const broken = file([], { message: 'a syntax error' });
    expect(run([PASSED, broken], 1)).toMatchObject({
      passed: 1,
      failed: 1,
      failures: ['could not be run: pay.spec.ts'],
    });
  });

  it('counts a run as failed if its exit code is not 0, or if it has no report or no tests', () => {
    expect(run([PASSED], 1)).toMatchObject({ passed: 1, failed: 1 });
    expect(summarise(undefined, 0)).toMatchObject({ failed: 1 });
    expect(run([])).toMatchObject({ failed: 1 });
  });

  it('counts a killed run as failed, and contains the reason', () => {
    expect(run([PASSED], 1, 'left open')).toMatchObject({ passed: 1, failed: 1, failures: ['left open'] });
    expect(summarise(undefined, 1, 'took too long')).toMatchObject({ failed: 1, failures: ['took too long'] });
  });

  it('counts tests that could not run as a failure', () => {
    const missing = summariseMissing('the tests of postgres-15');
    expect([missing.failures, closingLine([run([PASSED]), missing])]).toEqual([
      ['not run: the tests of postgres-15'],
      '1 passed, 1 failed',
    ]);
  });
});

describe('the table of times', () => {
  it('has a line for each phase, and lists the slowest files', () => {
    const slow = file([test('passed'), test('failed')], { name: join(process.cwd(), 'slow.spec.ts'), endTime: 9_500 });
    const preparing = { name: 'preparing', seconds: 30, busy: 0.5, runs: [] };
    expect(timeTable([preparing, { name: 'tests', seconds: 10, busy: 0.9, runs: [run([PASSED, slow], 1)] }])).toBe(
      [
        '           seconds     busy    files   passed   failed',
        'preparing     30.0     50 %',
        'tests         10.0     90 %        2        2        1',
        'all           40.0     60 %        2        2        1',
        '',
        'the slowest files',
        '     9.5  slow.spec.ts',
        '     1.0  pay.spec.ts',
      ].join('\n'),
    );
  });

  it('shows the duration of a whole run without the installation of packages', () => {
    const phases = ['installing', 'tests'].map((name) => ({ name, seconds: 30, busy: 0.5, runs: [] }));
    expect(timeTable(phases).split('\n').slice(-2)).toEqual([
      'all                    60.0     50 %',
      'all but installing     30.0',
    ]);
  });

  it('lists at most ten files', () => {
    const files = Array.from({ length: 30 }, (_, index) =>
      file([test('passed')], { name: `/${index}.spec.ts`, endTime: index }),
    );
    const lines = timeTable([{ name: 'tests', seconds: 10, busy: 1, runs: [run(files)] }]).split('\n');
    expect(lines.slice(lines.indexOf('the slowest files') + 1)).toEqual(
      [29, 28, 27, 26, 25, 24, 23, 22, 21, 20].map((index) => expect.stringContaining(`/${index}.spec.ts`)),
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
