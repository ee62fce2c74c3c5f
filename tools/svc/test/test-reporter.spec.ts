import { join } from 'node:path';
import { type JestTestResult, testFileOf } from './test-reporter.ts';

const test = {
  path: join(process.cwd(), 'apps/shop/pay.spec.ts'),
  context: { config: { displayName: { name: 'unit' } } },
};
const resultOf = (testResults: JestTestResult['testResults'], failureMessage?: string): JestTestResult => ({
  perfStats: { runtime: 1_500 },
  failureMessage: failureMessage ?? null,
  testResults,
});

it('testFileOf counts the tests of a file by their result, with the error of each failed test', () => {
  const result = resultOf(
    [
      { fullName: 'a payment', status: 'passed' },
      { fullName: 'a refund', status: 'failed', failureMessages: ['Error: 1 cent\n\n  is missing'] },
      { fullName: 'a void', status: 'pending' },
      { fullName: 'a capture', status: 'todo' },
    ],
    'a refund failed',
  );
  expect(testFileOf(test, result)).toEqual({
    project: 'unit',
    path: 'apps/shop/pay.spec.ts',
    seconds: 1.5,
    passed: 1,
    failed: 1,
    notRun: ['a void (pending)', 'a capture (todo)'],
    failures: ['a refund\n    Error: 1 cent\n      is missing'],
    broken: false,
  });
});

it('testFileOf keeps the first eight lines of an error', () => {
  const lines = Array.from({ length: 9 }, (_, index) => `line ${index + 1}`);
  const failed = { fullName: 'a refund', status: 'failed', failureMessages: [lines.join('\n')] };
  expect(testFileOf(test, resultOf([failed])).failures).toEqual([
    ['a refund', ...lines.slice(0, 8).map((line) => `    ${line}`)].join('\n'),
  ]);
});

it('testFileOf says that a file is broken if it failed without a failed test', () => {
  expect(testFileOf(test, resultOf([], 'SyntaxError'))).toMatchObject({ passed: 0, failed: 0, broken: true });
  expect(testFileOf(test, resultOf([{ fullName: 'a payment', status: 'passed' }]))).toMatchObject({ broken: false });
});
