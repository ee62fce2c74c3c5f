/** The commands of a runbook, as its source has them (deploy/observability/alerts, slos.ts). */
import type { Runbook } from '../../deploy/observability/alerts/alert.ts';
import { ALERTS } from '../../deploy/observability/rules.ts';
import { SLOS } from '../../deploy/observability/slos.ts';

export type CommandKind = 'svc' | 'rabbitmqctl' | 'sql';

export interface RunbookCommand {
  readonly kind: CommandKind;
  /** With placeholders, such as SITE. */
  readonly text: string;
}

const KINDS: readonly (readonly [start: RegExp, kind: CommandKind])[] = [
  [/^\.\/svc /, 'svc'],
  [/^rabbitmqctl /, 'rabbitmqctl'],
  [/^SELECT /, 'sql'],
];
/** Words in capitals in place of a value. SQL has capitals too, so its placeholder is `pid`. */
const PLACEHOLDER = /\bYYYY-MM-DD\b|\b[A-Z]{4,}\b/g;
const SQL_PLACEHOLDER = /(?<=backend\()pid(?=\))/g;

export const ALERT_NAMES: readonly string[] = [...ALERTS.map(({ name }) => name), ...SLOS.map(({ alert }) => alert)];

export function findRunbook(alert: string): Runbook {
  const found = ALERTS.find(({ name }) => name === alert) ?? SLOS.find((slo) => slo.alert === alert);
  if (found === undefined) throw new Error(`There is no alert ${alert}.`);
  return found.runbook;
}

/** The commands within these steps, in their order. */
export function commandsOf(steps: readonly string[]): RunbookCommand[] {
  return codeOf(steps).flatMap((text) => {
    const [, kind] = KINDS.find(([start]) => start.test(text)) ?? [];
    return kind === undefined ? [] : [{ kind, text }];
  });
}

/** The lines of the log that the runbook tells the reader to find. */
export function logLinesOf({ look, act }: Runbook): string[] {
  return [...look, ...act].flatMap((step) => [...step.matchAll(/\bline `([^`]+)`/g)].map(([, line]) => line!));
}

/** Undefined if a placeholder has no value. */
export function fillIn({ kind, text }: RunbookCommand, values: Readonly<Record<string, string>>): string | undefined {
  const pattern = kind === 'sql' ? SQL_PLACEHOLDER : PLACEHOLDER;
  const placeholders = text.match(pattern) ?? [];
  if (placeholders.some((name) => values[name] === undefined)) return undefined;
  return text.replaceAll(pattern, (name) => values[name]!);
}

const codeOf = (steps: readonly string[]): string[] =>
  steps.flatMap((step) => [...step.matchAll(/`([^`]+)`/g)].map(([, code]) => code!));
