/** Summaries of Jest's reports for people and pipelines. */
import { relative } from 'node:path';

/** The parts of the file that Jest writes with `--json --outputFile`. */
export interface JestReport {
  readonly testResults: readonly {
    /** The path of the test file. */
    readonly name: string;
    readonly startTime: number;
    readonly endTime: number;
    /** Empty if the file has passed. */
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages?: readonly string[] | null;
    }[];
  }[];
}

/** One run of Jest. */
export interface Summary {
  readonly passed: number;
  readonly failed: number;
  /** Each failed test with the first lines of its error, and a line for each problem that Jest does not report as one. */
  readonly failures: readonly string[];
  readonly files: readonly { readonly path: string; readonly seconds: number }[];
}

const MAX_ERROR_LINES = 8;
const SLOWEST_FILES = 10;

/**
 * Counts the passed and failed tests of one run. Skipped and todo tests count as failed. One failure is also counted
 * for a file that could not run, a killed run (`stuck` is the reason), a run without a report, and an exit code other
 * than 0 without a failed test.
 */
export function summarise(report: JestReport | undefined, exitCode: number, stuck?: string): Summary {
  const files = (report?.testResults ?? []).map(({ name, startTime, endTime }) => ({
    path: relative(process.cwd(), name),
    seconds: (endTime - startTime) / 1000,
  }));
  const tests = (report?.testResults ?? []).flatMap(({ assertionResults }) => assertionResults);
  const passed = tests.filter(({ status }) => status === 'passed').length;
  const failures = [...(report?.testResults ?? []).flatMap(listFailures), ...(stuck === undefined ? [] : [stuck])];
  if (failures.length === 0 && report === undefined) failures.push(`Jest wrote no report (exit code ${exitCode})`);
  if (failures.length === 0 && (exitCode !== 0 || passed === 0))
    failures.push(`Jest ran ${passed} tests and ended with exit code ${exitCode}`);
  return { passed, failed: failures.length, failures, files };
}

function listFailures({ name, message, assertionResults }: JestReport['testResults'][number]): string[] {
  const path = relative(process.cwd(), name);
  const failed = assertionResults.filter(({ status }) => status === 'failed');
  const notRun = assertionResults.filter(({ status }) => status !== 'passed' && status !== 'failed');
  return [
    ...failed.map(({ fullName, failureMessages }) =>
      [`✗ ${path}: ${fullName}`, ...firstLines(failureMessages?.[0] ?? '')].join('\n'),
    ),
    ...notRun.map(({ fullName, status }) => `not run: ${fullName} (${status}) in ${path}`),
    ...(failed.length === 0 && message !== '' ? [`could not be run: ${path}`] : []),
  ];
}

function firstLines(message: string): string[] {
  const lines = message.split('\n').filter((line) => line.trim() !== '');
  return lines.slice(0, MAX_ERROR_LINES).map((line) => `    ${line}`);
}

/** Tests that could not run count as one failure, because a run without them must not pass. */
export function summariseMissing(tests: string): Summary {
  return { passed: 0, failed: 1, failures: [`not run: ${tests}`], files: [] };
}

export function closingLine(runs: readonly Summary[]): string {
  return `${sum(runs, (run) => run.passed)} passed, ${sum(runs, (run) => run.failed)} failed`;
}

/** The name of the phase whose duration depends on the network. */
export const INSTALLING = 'installing';

/** A part of a whole run; phases run one after the other. */
export interface Phase {
  readonly name: string;
  readonly seconds: number;
  /** Busy share of the processors, from 0 to 1. */
  readonly busy: number;
  /** The runs of Jest in this phase, which run in parallel. */
  readonly runs: readonly Summary[];
}

/** A table of durations, with a line for each phase, a total, and the slowest files. */
export function timeTable(phases: readonly Phase[]): string {
  const seconds = sum(phases, (phase) => phase.seconds);
  const busy = sum(phases, (phase) => phase.busy * phase.seconds) / seconds;
  const all = { name: 'all', seconds, busy, runs: phases.flatMap(({ runs }) => runs) };
  const installing = phases.find(({ name }) => name === INSTALLING);
  const rows = [
    ['', 'seconds', 'busy', 'files', 'passed', 'failed'],
    ...[...phases, all].map(formatPhase),
    ...(installing ? [['all but installing', (seconds - installing.seconds).toFixed(1)]] : []),
  ];
  const nameWidth = Math.max(...rows.map(([name]) => name!.length));
  const lines = rows.map(([name, ...cells]) =>
    [name!.padEnd(nameWidth), ...cells.map((cell) => cell.padStart(9))].join(''),
  );
  return [...lines, ...slowestFiles(all.runs.flatMap(({ files }) => files))].join('\n');
}

function formatPhase({ name, seconds, busy, runs }: Phase): string[] {
  const counts = [sum(runs, ({ files }) => files.length), sum(runs, ({ passed }) => passed)];
  return [
    name,
    seconds.toFixed(1),
    `${Math.round(busy * 100)} %`,
    ...(runs.length === 0 ? [] : [...counts, sum(runs, ({ failed }) => failed)].map(String)),
  ];
}

function slowestFiles(files: Summary['files']): string[] {
  const slowest = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST_FILES);
  if (slowest.length < 2) return [];
  return ['', 'the slowest files', ...slowest.map(({ seconds, path }) => `${seconds.toFixed(1).padStart(8)}  ${path}`)];
}

function sum<T>(items: readonly T[], pick: (item: T) => number): number {
  return items.reduce((total, item) => total + pick(item), 0);
}
