/** What Jest's JSON report says, reduced to what a person and a pipeline ask for. */

/** The fields of Jest's report that count here. */
export interface JestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly JestFile[];
}

interface JestFile {
  readonly name: string;
  readonly status: string;
  readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
}

export interface Summary {
  readonly passed: number;
  readonly failed: number;
  /** A line for each failure that Jest itself does not show as one. */
  readonly complaints: readonly string[];
}

/**
 * Adds up one run. A test that was not run (skipped, todo) counts as failed: nothing is left out silently. So does a
 * file that could not be run, a run that had to be ended (`stuck` says why), and one that wrote no report or ended badly without any failed test.
 */
export function summarise(report: JestReport | undefined, exitCode: number, stuck?: string): Summary {
  if (report === undefined)
    return { passed: 0, failed: 1, complaints: [stuck ?? `Jest wrote no report (exit code ${exitCode})`] };
  const notRun = report.testResults.flatMap((file) =>
    file.assertionResults
      .filter(({ status }) => status !== 'passed' && status !== 'failed')
      .map(({ fullName, status }) => `not run (${status}): ${fullName} in ${file.name}`),
  );
  const broken = report.testResults
    .filter((file) => file.status === 'failed' && !file.assertionResults.some(({ status }) => status === 'failed'))
    .map((file) => `could not be run: ${file.name}`);
  const complaints = [...notRun, ...broken, ...(stuck === undefined ? [] : [stuck])];
  const failed = report.numFailedTests + complaints.length;
  if (failed > 0 || (exitCode === 0 && report.numPassedTests > 0))
    return { passed: report.numPassedTests, failed, complaints };
  return {
    passed: report.numPassedTests,
    failed: 1,
    complaints: [`Jest ran ${report.numPassedTests} tests and ended with exit code ${exitCode}`],
  };
}

/** A line for one run of several: what ran, on what. */
export function runLine(name: string, run: Summary): string {
  return `${name}: ${run.passed} passed, ${run.failed} failed`;
}

/** The line every test run closes with. */
export function closingLine(runs: readonly Summary[]): string {
  const sum = (pick: (run: Summary) => number) => runs.reduce((total, run) => total + pick(run), 0);
  return `${sum((run) => run.passed)} passed, ${sum((run) => run.failed)} failed`;
}

/** A part of a whole run. */
export interface Phase {
  readonly name: string;
  readonly seconds: number;
  /** Absent where nothing is tested. */
  readonly run?: Summary;
}

/** Where the time went: a line for each phase and one for all of them. */
export function phaseTable(phases: readonly Phase[]): string {
  const total = { name: 'all', seconds: phases.reduce((sum, { seconds }) => sum + seconds, 0) };
  const width = Math.max(...phases.map(({ name }) => name.length));
  const line = ({ name, seconds, run }: Phase) =>
    [
      name.padEnd(width),
      seconds.toFixed(1).padStart(8),
      String(run?.passed ?? '').padStart(7),
      String(run?.failed ?? '').padStart(7),
    ]
      .join('')
      .trimEnd();
  const heading = `${'phase'.padEnd(width)}${'seconds'.padStart(8)}${'passed'.padStart(7)}${'failed'.padStart(7)}`;
  return [heading, ...phases.map(line), line(total)].join('\n');
}
