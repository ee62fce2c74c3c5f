/** The results of the mutants, as text and as JSON. */
import type { Mutant } from './mutations/catalogue.ts';
import type { Verdict } from './runs/judge.ts';

export type Outcome = Verdict | { readonly is: 'equivalent'; readonly reason: string };
export type Outcomes = readonly (readonly [Mutant, Outcome])[];

const COLUMNS = ['killed', 'survived', 'not reached', 'timed out', 'invalid', 'equivalent'] as const;
const LISTED = ['survived', 'not reached', 'invalid'] as const;

/** A table with a line for each file and a sum, and a list of the mutants that a test should have killed. */
export function formatReport(outcomes: Outcomes): string {
  const files = [...new Set(outcomes.map(([{ file }]) => file))];
  const width = Math.max(4, ...files.map(({ length }) => length));
  const formatLine = (name: string, counted: Outcomes) =>
    name.padEnd(width) + COLUMNS.map((is) => String(count(counted, is) || '·').padStart(is.length + 2)).join('');
  const rows = files.map((file) =>
    formatLine(
      file,
      outcomes.filter(([mutant]) => mutant.file === file),
    ),
  );
  const table = ['file'.padEnd(width) + COLUMNS.map((is) => `  ${is}`).join(''), ...rows, formatLine('all', outcomes)];
  return [...table, ...LISTED.flatMap((is) => listMutants(outcomes, is))].join('\n');
}

function count(outcomes: Outcomes, is: Outcome['is']): number {
  return outcomes.filter(([, outcome]) => outcome.is === is).length;
}

function listMutants(outcomes: Outcomes, is: Outcome['is']): string[] {
  const found = outcomes.filter(([, outcome]) => outcome.is === is);
  if (found.length === 0) return [];
  return ['', `${is}:`, ...found.map(([mutant, outcome]) => `  ${describeMutant(mutant)}${formatReason(outcome)}`)];
}

/** `apps/…/x.ts:12 findOwned, owner: site_id = $3: always true` */
export function describeMutant({ file, line, within, guard, original, what, occurrence }: Mutant): string {
  const number = occurrence > 1 ? ` (number ${occurrence})` : '';
  return `${file}:${line}  ${within}, ${guard}:  ${original}${number}  —  ${what}`;
}

function formatReason(outcome: Outcome): string {
  return outcome.is === 'invalid' ? `\n      ${outcome.why}` : '';
}

/** All data of each mutant except its SQL statement. */
export function formatJsonReport(outcomes: Outcomes): string {
  const mutants = outcomes.map(([{ statement: _, ...mutant }, outcome]) => ({ ...mutant, outcome }));
  const counts = Object.fromEntries(COLUMNS.map((is) => [is, count(outcomes, is)]));
  return `${JSON.stringify({ counts, mutants }, null, 1)}\n`;
}
