/**
 * The test environment in which mutants run. It extends Jest's environment. It runs each test once for each mutant that
 * the test evaluates, with only that mutant active, and records the results. A test that fails with a mutant runs again
 * without it (the control run). If it then passes, the mutant was the cause.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import OneContext from '../../jest/one-context.ts';
import type { Line, Plan } from '../runs/plan.ts';
import { LoadedStatements } from './loaded-statements.ts';
import { SqlErrorLog } from './sql-error-log.ts';

/** The parts of jest-circus that this file uses. */
interface CircusTest {
  readonly type: 'test';
  readonly name: string;
  readonly parent: CircusDescribe;
  mode: string | undefined | null;
  errors: unknown[];
  timeout: number | undefined;
}
interface CircusDescribe {
  readonly type: 'describeBlock';
  readonly name: string;
  children: (CircusTest | CircusDescribe)[];
}
interface CircusEvent {
  readonly name: string;
  readonly test?: CircusTest;
}
interface CircusState {
  readonly rootDescribeBlock: CircusDescribe;
}

/** One run of one test: a run with a mutant, or the control run after it. */
interface MutantRun {
  readonly test: number;
  readonly mutant: string;
  readonly isControl: boolean;
}

/** The global `__svcMutants`, which compiled code and setup.mjs use. */
interface MutantSwitch {
  /** The id of the active mutant; empty for none. */
  active: string;
  /** Records that a site, an expression with mutants, was evaluated. */
  hit(site: string): void;
  /** Returns the SQL statement to send instead of this one. */
  statement(text: string): string;
}

/** The minimum time limit of a test with a mutant. */
const USUAL_TIMEOUT_MS = 5_000;
/** The minimum time limit of a test without a mutant, as in jest.config.mjs: only a test that hangs reaches it. */
const RECORDING_TIMEOUT_MS = 300_000;
/** A test with a mutant may take this many times its usual duration, because other programs may load the machine. */
const MAX_SLOWDOWN = 8;

export default class MutantEnvironment extends OneContext {
  /** `record`: without mutants. `mutants`: with many mutants. `alone`: with one mutant, or none, from the start. */
  private readonly plan = JSON.parse(readFileSync(process.env['SVC_MUTANTS_PLAN']!, 'utf8')) as Plan;
  private readonly statements = new LoadedStatements(this.plan.statements);
  private readonly sqlErrorLog = new SqlErrorLog(this.plan.serverLog);
  private readonly mutantRuns = new Map<CircusTest, MutantRun>();
  private readonly killed = new Set<string>();
  /** The sites that were evaluated while no test ran. */
  private readonly loadSites = new Set<string>();
  /** The set to which the next evaluated site is added. */
  private sites = this.loadSites;
  private readsQueryPlan = false;
  private shouldSkipRest = false;
  private startedAt = 0;
  private readonly switch: MutantSwitch = {
    active: this.plan.kind === 'alone' ? this.plan.mutant : '',
    hit: (site) => void this.sites.add(site),
    statement: (text) => this.chooseStatement(text),
  };

  constructor(...args: ConstructorParameters<typeof OneContext>) {
    super(...args);
    // The setup files use this global, and Jest runs them before setup().
    (this.global as unknown as { __svcMutants: MutantSwitch }).__svcMutants = this.switch;
  }

  override async teardown(): Promise<void> {
    this.writeLine({ type: 'load', sites: [...this.loadSites] });
    this.writeLine({ type: 'end' });
    await super.teardown();
  }

  handleTestEvent = (event: CircusEvent, state: CircusState): void => {
    if (event.name === 'run_start') this.planRuns(state.rootDescribeBlock);
    else if (event.name === 'test_start') this.startRun(event.test!);
    else if (event.name === 'test_done') this.finishRun(event.test!);
  };

  private writeLine(line: Line): void {
    appendFileSync(this.plan.out, `${JSON.stringify(line)}\n`);
  }

  private chooseStatement(text: string): string {
    if (this.plan.kind === 'record') {
      if (/^\s*(EXPLAIN|PREPARE planned_statement)/.test(text)) this.readsQueryPlan = true;
      for (const site of this.statements.findSites(text)) if (this.loadSites.has(site)) this.sites.add(site);
      return text;
    }
    const { active } = this.switch;
    const changed = active === '' ? undefined : this.statements.applyMutant(text, active);
    if (changed === undefined) return text;
    this.sites.add(findSite(active));
    return changed;
  }

  /** Numbers the tests in the order of the file, and replaces each test by a copy for each of its runs. */
  private planRuns(root: CircusDescribe): void {
    let number = 0;
    const visit = (block: CircusDescribe): void => {
      block.children = block.children.flatMap((child): (CircusTest | CircusDescribe)[] => {
        if (child.type === 'test') return this.createRuns(child, number++);
        visit(child);
        return [child];
      });
    };
    visit(root);
  }

  private createRuns(test: CircusTest, number: number): CircusTest[] {
    const { plan } = this;
    this.mutantRuns.set(test, { test: number, mutant: plan.kind === 'alone' ? plan.mutant : '', isControl: false });
    test.timeout = findTimeout(test, plan.kind === 'record' ? undefined : plan.ms[number]);
    if (plan.kind === 'record') return [test];
    if (plan.kind === 'alone') {
      if (!plan.tests.includes(number)) test.mode = 'skip';
      return [test];
    }
    const runs = (plan.runs[number] ?? []).flatMap((mutant) =>
      [false, true].map((isControl) => {
        const copy = { ...test, errors: [], unhandledRejectionErrorByPromise: new Map() };
        this.mutantRuns.set(copy, { test: number, mutant, isControl });
        return copy;
      }),
    );
    if (test.mode === 'skip') return [test];
    return runs.length === 0 ? [Object.assign(test, { mode: 'skip' })] : runs;
  }

  /** Skips the run if its mutant is already killed, or if it is a control run and the test has not failed. */
  private startRun(test: CircusTest): void {
    const entry = this.mutantRuns.get(test)!;
    const { mutant, isControl } = entry;
    const isDue = isControl ? this.failedMutant === mutant : !this.killed.has(mutant);
    if (this.shouldSkipRest || (this.plan.kind === 'mutants' && !isDue)) test.mode = 'skip';
    if (test.mode === 'skip') return;
    this.startedAt = performance.now();
    this.sites = new Set();
    this.readsQueryPlan = false;
    this.sqlErrorLog.skipToEnd();
    if (this.plan.kind === 'mutants') this.switch.active = isControl ? '' : mutant;
    if (!isControl && this.plan.kind !== 'record') this.writeLine({ type: 'begin', test: entry.test, mutant });
  }

  /** The mutant with which the test has just failed. The control run for this mutant is next. */
  private failedMutant: string | undefined;

  private finishRun(test: CircusTest): void {
    const { test: number, mutant, isControl } = this.mutantRuns.get(test)!;
    const failed = test.errors.length > 0;
    const { sites, plan } = this;
    this.sites = this.loadSites;
    if (plan.kind === 'mutants') this.switch.active = '';
    if (plan.kind === 'record') {
      const ms = Math.round(performance.now() - this.startedAt);
      const { readsQueryPlan } = this;
      const sqlErrors = this.sqlErrorLog.read();
      this.writeLine({
        type: 'test',
        test: number,
        name: formatTestName(test),
        ms,
        failed,
        sites: [...sites],
        error: failed ? summariseError(test.errors[0]) : '',
        readsQueryPlan,
        sqlErrors,
      });
    } else if (isControl) {
      this.failedMutant = undefined;
      // The test also fails without the mutant, so later tests would fail too.
      if (failed) this.shouldSkipRest = true;
      else this.killed.add(mutant);
      this.writeLine({ type: 'control', test: number, mutant, failed });
    } else {
      const wasReached = sites.has(findSite(mutant)) || this.loadSites.has(findSite(mutant));
      const error = failed ? summariseError(test.errors[0]) : '';
      const sqlErrors = this.sqlErrorLog.read();
      this.writeLine({ type: 'ran', test: number, mutant, failed, wasReached, error, sqlErrors });
      if (failed) this.failedMutant = mutant;
      if (failed && plan.kind === 'alone') this.shouldSkipRest = true;
    }
  }
}

/**
 * The time limit of a test. With a mutant it is much shorter than the test's own limit, so that a test that hangs fails
 * early, but long enough for a test that is only slow on a busy machine.
 */
function findTimeout({ timeout }: CircusTest, usualMs: number | undefined): number {
  if (usualMs === undefined) return Math.max(RECORDING_TIMEOUT_MS, timeout ?? 0);
  return Math.max(USUAL_TIMEOUT_MS, usualMs * MAX_SLOWDOWN);
}

function findSite(mutant: string): string {
  return mutant.slice(0, mutant.lastIndexOf('.'));
}

function formatTestName(test: CircusTest | CircusDescribe): string {
  if (test.type === 'describeBlock' || test.parent.name === 'ROOT_DESCRIBE_BLOCK') return test.name;
  return `${formatTestName(test.parent)} ${test.name}`;
}

/** The beginning of the error's message. jest-circus stores an error, or a pair of the error and its origin. */
function summariseError(error: unknown): string {
  const thrown: unknown = Array.isArray(error) ? (error[0] ?? error[1]) : error;
  const text = thrown instanceof Object && 'message' in thrown ? String(thrown.message) : String(thrown);

  return text
    .replaceAll(/\x1b\[\d*m/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(0, 4)
    .join(' ')
    .slice(0, 300);
}
