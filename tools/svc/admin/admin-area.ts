import type { AdministrationCall } from './administration-call.ts';

/** One area of administration. */
export interface AdminArea {
  /** What comes after `./svc admin`, and what it does: a line each. */
  readonly help: readonly (readonly [command: string, meaning: string])[];
  /** Runs one command; the answer is printed line by line. Throws `SvcError`, with exit code 2 for what it does not know. */
  readonly run: (args: readonly string[], call: AdministrationCall) => Promise<readonly string[]>;
}
