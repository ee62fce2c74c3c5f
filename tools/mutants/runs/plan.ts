/** What the two sides of a test run tell each other: the tool, and the test environment inside Jest. */
import type { Part } from '../mutations/catalogue.ts';

/** What one run of one spec file has to do, in a file that SVC_MUTANTS_PLAN names. */
export type Plan = RecordPlan | MutantsPlan | AlonePlan;

interface AnyPlan {
  /** Where the environment appends its {@link Line}s. */
  readonly out: string;
  /** The log of the PostgreSQL that the tests run on. */
  readonly serverLog: string;
  /** Statements that are put together when a file is loaded, and so cannot be chosen when they are evaluated. */
  readonly statements: readonly LoadedStatement[];
}

export interface LoadedStatement {
  readonly site: string;
  readonly original: readonly Part[];
  readonly mutants: Readonly<Record<string, readonly Part[]>>;
}

/** Runs every test as it is and writes down which sites it evaluates. */
export interface RecordPlan extends AnyPlan {
  readonly kind: 'record';
}

interface TimedPlan extends AnyPlan {
  /** How long each of the tests takes without a mutant. */
  readonly ms: Readonly<Record<number, number>>;
}

/** Runs tests over and over, each time with another mutant. */
export interface MutantsPlan extends TimedPlan {
  readonly kind: 'mutants';
  /** By the number of the test in its file: the mutants to run it with. */
  readonly runs: Readonly<Record<number, readonly string[]>>;
}

/** Runs tests with one mutant, or none, from the beginning on; ends with the first failure. */
export interface AlonePlan extends TimedPlan {
  readonly kind: 'alone';
  readonly mutant: string;
  /** All of them, where it is not said. */
  readonly tests?: readonly number[];
}

export type Line =
  /** Evaluated while no test ran. */
  | { readonly type: 'load'; readonly sites: readonly string[] }
  | {
      readonly type: 'test';
      readonly test: number;
      readonly name: string;
      readonly ms: number;
      readonly failed: boolean;
      readonly sites: readonly string[];
      /** It looks at the plan of a statement, which no guard has to survive. */
      readonly isPlan: boolean;
      readonly complaints: readonly string[];
    }
  | { readonly type: 'begin'; readonly test: number; readonly mutant: string }
  | {
      readonly type: 'ran';
      readonly test: number;
      readonly mutant: string;
      readonly failed: boolean;
      readonly wasReached: boolean;
      readonly error: string;
      readonly complaints: readonly string[];
    }
  /** The same test without the mutant, after it failed with it. */
  | { readonly type: 'control'; readonly test: number; readonly mutant: string; readonly failed: boolean }
  | { readonly type: 'end' };
