/** What the test reports say, reduced to what a person and a pipeline ask for. */
import type { TestFile } from './test-reporter.ts';

/** One run of Jest, or several together. */
export interface Summary {
  readonly passed: number;
  readonly failed: number;
  /** A line for each failure that Jest itself does not show as one. */
  readonly complaints: readonly string[];
  readonly files: readonly TestFile[];
}

const SLOWEST_FILES = 10;

/**
 * Adds up one run. These count as failed too: a test that was not run (skipped, todo), a file that could not be run, a
 * run that had to be ended (`stuck` says why), and one that wrote no report or ended badly without any failed test.
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

/** Each failed test once more, because a reader of a long log sees its end first. */
export function failureList(runs: readonly Summary[]): string[] {
  return runs.flatMap(({ files, complaints }) => [
    ...files.flatMap(({ project, path, failures }) => failures.map((failure) => `✗ ${project} ${path}: ${failure}`)),
    ...complaints,
  ]);
}

/** The line every test run closes with. */
export function closingLine(runs: readonly Summary[]): string {
  return `${sum(runs, (run) => run.passed)} passed, ${sum(runs, (run) => run.failed)} failed`;
}

/** A part of a whole run; the parts follow each other. */
export interface Phase {
  readonly name: string;
  readonly seconds: number;
  /** Share of the processors' time that was used, from 0 to 1. */
  readonly busy: number;
  /** Runs of Jest in this phase, side by side. */
  readonly runs: readonly Summary[];
}

/** Where the time went: a line for each phase, for each project in it, and for all of them; then the slowest files. */
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
  ];
  return [...aligned(rows), ...slowest(files)].join('\n');
}

/** The seconds of a project's files add up to more than the phase took where workers run side by side. */
function projectRows(files: readonly TestFile[]): string[][] {
  return [...Map.groupBy(files, ({ project }) => project)].map(([project, its]) => {
    const seconds = sum(its, (file) => file.seconds).toFixed(1);
    return [`  ${project}`, seconds, '', ...counts(its.length, its)];
  });
}

function counts(files: number, of: readonly { readonly passed: number; readonly failed: number }[]): string[] {
  return [files, sum(of, ({ passed }) => passed), sum(of, ({ failed }) => failed)].map(String);
}

function slowest(files: readonly TestFile[]): string[] {
  const order = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST_FILES);
  if (order.length < 2) return [];
  const lines = order.map(({ seconds, project, path }) => `${seconds.toFixed(1).padStart(8)}  ${project}  ${path}`);
  return ['', 'the slowest files', ...lines];
}

function aligned(rows: readonly string[][]): string[] {
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
