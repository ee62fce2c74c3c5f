/** The interface between the tool and the test environment inside Jest. */
import type { Part } from '../mutations/catalogue.ts';

/** The work of one run of one spec file, in a file that SVC_MUTANTS_PLAN names. */
export type Plan = RecordPlan | MutantsPlan | AlonePlan;

interface AnyPlan {
  /** Where the environment appends its {@link Line}s. */
  readonly out: string;
  /** The log of the PostgreSQL that the tests run on. */
  readonly serverLog: string;
  /** Statements that are built when a file loads, so that no mutant can be chosen when they are evaluated. */
  readonly statements: readonly LoadedStatement[];
}

export interface LoadedStatement {
  readonly site: string;
  readonly original: readonly Part[];
  readonly mutants: Readonly<Record<string, readonly Part[]>>;
}

/** Runs every test unchanged and records the sites that it evaluates. */
export interface RecordPlan extends AnyPlan {
  readonly kind: 'record';
}

interface TimedPlan extends AnyPlan {
  /** Duration of each test without a mutant. */
  readonly ms: Readonly<Record<number, number>>;
}

/** Runs tests repeatedly, each time with another mutant. */
export interface MutantsPlan extends TimedPlan {
  readonly kind: 'mutants';
  /** By the number of the test in its file: the mutants to run it with. */
  readonly runs: Readonly<Record<number, readonly string[]>>;
}

/** Runs tests with one mutant, or none, from the start; ends with the first failure. */
export interface AlonePlan extends TimedPlan {
  readonly kind: 'alone';
  readonly mutant: string;
  /** By default all. */
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
      /** It checks the plan of a statement, which may change with a guard. */
      readonly readsQueryPlan: boolean;
      readonly sqlErrors: readonly string[];
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
