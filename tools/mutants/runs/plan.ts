/** The data that the tool and the test environment inside Jest exchange. */
import type { Part } from '../mutations/catalogue.ts';

/** The plan of one run of one spec file. SVC_MUTANTS_PLAN is the path of its file. */
export type Plan = RecordPlan | MutantsPlan | AlonePlan;

interface CommonPlan {
  /** The file to which the environment appends its {@link Line}s. */
  readonly out: string;
  /** The log of the PostgreSQL that the tests run on. */
  readonly serverLog: string;
  /** Statements that are built when a file loads: the environment applies their mutants when they are sent. */
  readonly statements: readonly LoadedStatement[];
}

export interface LoadedStatement {
  readonly site: string;
  readonly original: readonly Part[];
  readonly mutants: Readonly<Record<string, readonly Part[]>>;
}

/** Runs every test unchanged and records the sites (expressions with mutants) that it evaluates. */
export interface RecordPlan extends CommonPlan {
  readonly kind: 'record';
}

interface TimedPlan extends CommonPlan {
  /** The duration of each test without a mutant, by the number of the test in its file. */
  readonly ms: Readonly<Record<number, number>>;
}

/** Runs tests repeatedly, each time with another mutant. */
export interface MutantsPlan extends TimedPlan {
  readonly kind: 'mutants';
  /** The mutants with which each test runs, by the number of the test in its file. */
  readonly runs: Readonly<Record<number, readonly string[]>>;
}

/** Runs tests with one mutant, or none, from the start; ends with the first failure. */
export interface AlonePlan extends TimedPlan {
  readonly kind: 'alone';
  readonly mutant: string;
  /** The numbers of the tests to run. */
  readonly tests: readonly number[];
}

/** A result that the environment writes. */
export type Line =
  /** The sites that were evaluated while no test ran. */
  | { readonly type: 'load'; readonly sites: readonly string[] }
  /** The result of a test without a mutant. */
  | {
      readonly type: 'test';
      readonly test: number;
      readonly name: string;
      readonly ms: number;
      readonly failed: boolean;
      /** Why the test failed; empty if it passed. */
      readonly error: string;
      readonly sites: readonly string[];
      /**
       * Whether the test reads the query plan of a statement. A mutant may change the plan without changing the result.
       */
      readonly readsQueryPlan: boolean;
      readonly sqlErrors: readonly string[];
    }
  /** A test begins with a mutant. */
  | { readonly type: 'begin'; readonly test: number; readonly mutant: string }
  /** The result of a test with a mutant. */
  | {
      readonly type: 'ran';
      readonly test: number;
      readonly mutant: string;
      readonly failed: boolean;
      readonly wasReached: boolean;
      readonly error: string;
      readonly sqlErrors: readonly string[];
    }
  /** The control run: the test without the mutant, after it failed with the mutant. */
  | { readonly type: 'control'; readonly test: number; readonly mutant: string; readonly failed: boolean }
  | { readonly type: 'end' };
