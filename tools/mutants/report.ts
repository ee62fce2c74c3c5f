/** The results of the mutants, as text and as JSON. */
import type { Mutant } from './mutations/catalogue.ts';
import type { Verdict } from './runs/judge.ts';

export type Outcome = Verdict | { readonly status: 'equivalent'; readonly reason: string };
export type Outcomes = readonly (readonly [Mutant, Outcome])[];

const COLUMNS = ['killed', 'survived', 'not reached', 'timed out', 'invalid', 'equivalent'] as const;
const LISTED = ['survived', 'not reached', 'invalid'] as const;

/** A table with a line for each file and a sum, and a list of the mutants that a test should have killed. */
export function formatReport(outcomes: Outcomes): string {
  const files = [...new Set(outcomes.map(([{ file }]) => file))];
  const width = Math.max(4, ...files.map(({ length }) => length));
  const formatLine = (name: string, counted: Outcomes) =>
    name.padEnd(width) +
    COLUMNS.map((status) => String(count(counted, status) || '·').padStart(status.length + 2)).join('');
  const rows = files.map((file) =>
    formatLine(
      file,
      outcomes.filter(([mutant]) => mutant.file === file),
    ),
  );
  const table = [
    'file'.padEnd(width) + COLUMNS.map((status) => `  ${status}`).join(''),
    ...rows,
    formatLine('all', outcomes),
  ];
  return [...table, ...LISTED.flatMap((status) => listMutants(outcomes, status))].join('\n');
}

function count(outcomes: Outcomes, status: Outcome['status']): number {
  return outcomes.filter(([, outcome]) => outcome.status === status).length;
}

function listMutants(outcomes: Outcomes, status: Outcome['status']): string[] {
  const found = outcomes.filter(([, outcome]) => outcome.status === status);
  if (found.length === 0) return [];
  return ['', `${status}:`, ...found.map(([mutant, outcome]) => `  ${describeMutant(mutant)}${formatReason(outcome)}`)];
}

/** `apps/…/x.ts:12 findOwned, owner: site_id = $3: always true` */
export function describeMutant({ file, line, within, guard, original, what, occurrence }: Mutant): string {
  const number = occurrence > 1 ? ` (number ${occurrence})` : '';
  return `${file}:${line}  ${within}, ${guard}:  ${original}${number}  —  ${what}`;
}

function formatReason(outcome: Outcome): string {
  return outcome.status === 'invalid' ? `\n      ${outcome.why}` : '';
}

/** All data of each mutant except its SQL statement. */
export function formatJsonReport(outcomes: Outcomes): string {
  const mutants = outcomes.map(([{ statement: _, ...mutant }, outcome]) => ({ ...mutant, outcome }));
  const counts = Object.fromEntries(COLUMNS.map((status) => [status, count(outcomes, status)]));
  return `${JSON.stringify({ counts, mutants }, null, 1)}\n`;
}
