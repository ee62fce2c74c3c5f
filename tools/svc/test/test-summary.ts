/** Summaries of the test reports for people and pipelines. */
import type { TestFile } from './test-reporter.ts';

/** One run of Jest, or several together. */
export interface Summary {
  readonly passed: number;
  readonly failed: number;
  /** A line for each problem that Jest does not report as a failed test. */
  readonly complaints: readonly string[];
  readonly files: readonly TestFile[];
}

const SLOWEST_FILES = 10;

/**
 * Counts the passed and failed tests of one run. Skipped and todo tests count as failed. One failure is also counted
 * for a file that could not run, a killed run (`stuck` is the reason), a run without a report, and an exit code other
 * than 0 without a failed test.
 */
export function summarise(files: readonly TestFile[] | undefined, exitCode: number, stuck?: string): Summary {
  if (files === undefined)
    return { passed: 0, failed: 1, complaints: [stuck ?? `Jest wrote no report (exit code ${exitCode})`], files: [] };
  const passed = sum(files, (file) => file.passed);
  const complaints = [
    ...files.flatMap(({ notRun, path }) => notRun.map((test) => `not run: ${test} in ${path}`)),
    ...files.filter(({ broken }) => broken).map(({ path }) => `could not be run: ${path}`),
    ...(stuck === undefined ? [] : [stuck]),
  ];
  const failed = sum(files, (file) => file.failed) + complaints.length;
  if (failed > 0 || (exitCode === 0 && passed > 0)) return { passed, failed, complaints, files };
  return {
    passed,
    failed: 1,
    complaints: [`Jest ran ${passed} tests and ended with exit code ${exitCode}`],
    files,
  };
}

/** Tests that could not run count as one failure, because a run without them must not pass. */
export function summariseMissing(tests: string): Summary {
  return { passed: 0, failed: 1, complaints: [`not run: ${tests}`], files: [] };
}

/** Repeats all failures, because readers of a long log see its end first. */
export function failureList(runs: readonly Summary[]): string[] {
  return runs.flatMap(({ files, complaints }) => [
    ...files.flatMap(({ project, path, failures }) => failures.map((failure) => `✗ ${project} ${path}: ${failure}`)),
    ...complaints,
  ]);
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

/** A table of durations, with a line for each phase and each project in it, a total, and the slowest files. */
export function timeTable(phases: readonly Phase[]): string {
  const runs = phases.flatMap((phase) => phase.runs);
  const files = runs.flatMap((run) => run.files);
  const seconds = sum(phases, (phase) => phase.seconds);
  const busy = sum(phases, (phase) => phase.busy * phase.seconds) / seconds;
  const rows = [
    ['', 'seconds', 'busy', 'files', 'passed', 'failed'],
    ...phases.flatMap((phase) => [
      [phase.name, phase.seconds.toFixed(1), percent(phase.busy)],
      ...projectRows(phase.runs.flatMap((run) => run.files)),
    ]),
    ['all', seconds.toFixed(1), percent(busy), ...counts(files.length, runs)],
    ...(phases.some(isInstalling)
      ? [['all but installing', (seconds - sum(phases.filter(isInstalling), (phase) => phase.seconds)).toFixed(1)]]
      : []),
  ];
  return [...alignColumns(rows), ...slowestFiles(files)].join('\n');
}

function isInstalling({ name }: Phase): boolean {
  return name === INSTALLING;
}

/** With parallel workers the seconds of a project's files add up to more than the duration of the phase. */
function projectRows(files: readonly TestFile[]): string[][] {
  return [...Map.groupBy(files, ({ project }) => project)].map(([project, group]) => {
    const seconds = sum(group, (file) => file.seconds).toFixed(1);
    return [`  ${project}`, seconds, '', ...counts(group.length, group)];
  });
}

function counts(files: number, of: readonly { readonly passed: number; readonly failed: number }[]): string[] {
  return [files, sum(of, ({ passed }) => passed), sum(of, ({ failed }) => failed)].map(String);
}

function slowestFiles(files: readonly TestFile[]): string[] {
  const order = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST_FILES);
  if (order.length < 2) return [];
  const lines = order.map(({ seconds, project, path }) => `${seconds.toFixed(1).padStart(8)}  ${project}  ${path}`);
  return ['', 'the slowest files', ...lines];
}

function alignColumns(rows: readonly string[][]): string[] {
  const nameWidth = Math.max(...rows.map(([name]) => name?.length ?? 0));
  return rows.map(([name = '', ...cells]) =>
    [name.padEnd(nameWidth), ...cells.map((cell) => cell.padStart(9))].join('').trimEnd(),
  );
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

function sum<T>(items: readonly T[], pick: (item: T) => number): number {
  return items.reduce((total, item) => total + pick(item), 0);
}
