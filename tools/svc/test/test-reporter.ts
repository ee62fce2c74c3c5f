/**
 * Jest reporter of `./svc test`: writes the results of all test files to the file SVC_TEST_REPORT. With SVC_TEST_LINES
 * it prints a line for each test file, and all failures, for runs of Jest that share a terminal.
 */
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';

/** The result of a test file in one Jest project. */
export interface TestFile {
  readonly project: string;
  /** Relative to the repository. */
  readonly path: string;
  readonly seconds: number;
  readonly passed: number;
  readonly failed: number;
  /** Full name and state of each skipped or todo test. */
  readonly notRun: readonly string[];
  /** Full name of each failed test, and the first lines of its error. */
  readonly failures: readonly string[];
  /** The file itself failed: it does not compile, or a hook threw. */
  readonly broken: boolean;
}

const MAX_FAILURE_LINES = 8;

/** Parts of Jest's types. */
export interface JestTest {
  readonly path: string;
  readonly context: { readonly config: { readonly displayName?: { readonly name: string } } };
}
export interface JestTestResult {
  readonly perfStats: { readonly runtime: number };
  readonly failureMessage?: string | null;
  readonly console?: readonly { readonly message: string }[] | null;
  readonly testResults: readonly {
    readonly fullName: string;
    readonly status: string;
    readonly failureMessages?: readonly string[];
  }[];
}

export default class TestReporter {
  private readonly files: TestFile[] = [];

  onTestResult(test: JestTest, result: JestTestResult): void {
    const file = testFileOf(test, result);
    this.files.push(file);
    if (process.env['SVC_TEST_LINES'] === undefined) return;
    const hasPassed = file.failed === 0 && !file.broken;
    console.log(`${hasPassed ? '✓' : '✗'} ${file.project} ${file.path} (${file.passed}, ${file.seconds.toFixed(1)} s)`);
    for (const { message } of result.console ?? []) console.log(message);
    if (!hasPassed) console.log(result.failureMessage);
  }

  onRunComplete(): void {
    const report = process.env['SVC_TEST_REPORT'];
    if (report === undefined) throw new Error('SVC_TEST_REPORT is not set.');
    writeFileSync(report, JSON.stringify(this.files));
  }
}

export function testFileOf(test: JestTest, result: JestTestResult): TestFile {
  const count = (status: string) => result.testResults.filter((test) => test.status === status).length;
  return {
    project: test.context.config.displayName?.name ?? '',
    path: relative(process.cwd(), test.path),
    seconds: result.perfStats.runtime / 1000,
    passed: count('passed'),
    failed: count('failed'),
    notRun: result.testResults
      .filter(({ status }) => status !== 'passed' && status !== 'failed')
      .map(({ fullName, status }) => `${fullName} (${status})`),
    failures: result.testResults
      .filter(({ status }) => status === 'failed')
      .map(({ fullName, failureMessages }) => [fullName, ...firstLines(failureMessages?.[0] ?? '')].join('\n')),
    broken: count('failed') === 0 && Boolean(result.failureMessage),
  };
}

function firstLines(message: string): string[] {
  return message
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(0, MAX_FAILURE_LINES)
    .map((line) => `    ${line}`);
}
