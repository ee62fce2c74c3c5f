import { createAlarmRules, createSloRules } from './rules.ts';

/** Seconds of the units in the rules. */
const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };
/** A window needs several samples. The drill reads the metrics every five seconds. */
const SHORTEST_WINDOW = 20;

interface Rule {
  readonly alert?: string;
  readonly expr: string;
  readonly for?: string;
}

interface RuleFile {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
}

/**
 * The rules as shipped, with windows and waiting times that are `factor` times shorter, for the drill of the alerts. Limits,
 * such as a relay's age of a minute, are unchanged.
 */
export function createQuickRules(factor: number): Readonly<Record<'alarms' | 'slos', object>> {
  return { alarms: shorten(createAlarmRules(), factor), slos: shorten(createSloRules(), factor) };
}

export function shortenExpression(expression: string, factor: number): string {
  const divide = (duration: string): string => `${Math.max(SHORTEST_WINDOW, Math.ceil(secondsOf(duration) / factor))}s`;
  return expression
    .replaceAll(/\[(\w+)\]/g, (_, duration: string) => `[${divide(duration)}]`)
    .replaceAll(/\boffset (\w+)/g, (_, duration: string) => `offset ${divide(duration)}`);
}

function shorten(file: object, factor: number): object {
  return {
    groups: (file as RuleFile).groups.map(({ name, rules }) => ({
      name,
      rules: rules.map((rule) => ({
        ...rule,
        expr: shortenExpression(rule.expr, factor),
        ...(rule.for === undefined ? {} : { for: `${Math.ceil(secondsOf(rule.for) / factor)}s` }),
      })),
    })),
  };
}

function secondsOf(duration: string): number {
  const [, count, unit] = /^(\d+)([smhd])$/.exec(duration) ?? [];
  if (count === undefined || unit === undefined) throw new Error(`${duration} is not a duration of one unit`);
  return Number(count) * UNITS[unit]!;
}
