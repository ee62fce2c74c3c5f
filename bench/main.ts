/**
 * `./svc bench [part…]`: measures the platform on this machine. Prints its progress and the results, and writes
 * report.json and report.md into `.data/bench`. Results are valid only if the records of all systems agree after the
 * run.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { measureAcquirers } from './acquirers/acquirers.ts';
import { measureStuckAcquirer } from './acquirers/stuck-acquirer.ts';
import { measureCardTesting } from './card-testing/card-testing.ts';
import { measureCheckout } from './checkout/checkout.ts';
import { measureConsole } from './console/console.ts';
import { measureConsoleConsumer } from './console/consumer-cost.ts';
import { measureHistory } from './history/history.ts';
import { measurePageViews } from './hosted-payment/page-views.ts';
import { measurePayments } from './hosted-payment/payments.ts';
import { measureTracing } from './hosted-payment/tracing.ts';
import { measureMemory } from './memory/memory.ts';
import { ROOT } from './platforms/platform.ts';
import { type Report, type Section, toMarkdown, toText } from './report.ts';
import { measureRetrieval } from './retrieval/retrieval.ts';
import { measureStart } from './start/start.ts';
import { measureWebhooks } from './webhooks/webhooks.ts';

export interface PartOptions {
  /** Number of rounds. Each round measures every system once. */
  readonly rounds: number;
  /** The duration of one step, a time with constant load. Other durations are multiples of it. */
  readonly seconds: number;
  /** Factor for the counts of the parts `card-testing` and `console`, above 0 and at most 1. */
  readonly scale: number;
  /** Commit with which the platform is compared, as a short hash of Git. Undefined without a comparison. */
  readonly against: string | undefined;
  readonly log: (line: string) => void;
}

const PARTS: Readonly<Record<string, (options: PartOptions) => Promise<Section>>> = {
  start: measureStart,
  payments: measurePayments,
  pages: measurePageViews,
  acquirers: measureAcquirers,
  'stuck-acquirer': measureStuckAcquirer,
  tracing: measureTracing,
  webhooks: measureWebhooks,
  checkout: measureCheckout,
  history: measureHistory,
  retrieval: measureRetrieval,
  console: measureConsole,
  'console-consumer': measureConsoleConsumer,
  memory: measureMemory,
  'card-testing': measureCardTesting,
};

/** `memory` writes a file of the repository, so it runs only by name. */
const DEFAULT_PARTS = Object.keys(PARTS).filter((name) => name !== 'memory');

const { parts, rounds, seconds, scale, against } = readArguments();

const startedAt = performance.now();
const log = (line: string): void =>
  console.log(`  ${((performance.now() - startedAt) / 1_000).toFixed(0).padStart(5)} s  ${line}`);
const sections: Section[] = [];
for (const name of parts) {
  console.log(`\n${name}`);
  const section = await PARTS[name]!({ rounds, seconds, scale, against, log });
  console.log(`\n${toText(section)}`);
  sections.push(section);
}

const report: Report = {
  measuredAt: new Date().toISOString(),
  commit: execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }).trim(),
  machine: `${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GB, Node.js ${process.versions.node}`,
  command: `./svc bench ${process.argv.slice(2).join(' ')}`.trim(),
  sections,
};
const folder = join(ROOT, '.data', 'bench');
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'report.json'), `${JSON.stringify(report, null, 2)}\n`);
writeFileSync(join(folder, 'report.md'), toMarkdown(report));
console.log(`\nreport: ${join(folder, 'report.md')}`);
const isInvalid = sections.some(({ problems }) => problems.length > 0);
process.exit(isInvalid ? 1 : 0);

function readArguments(): Omit<PartOptions, 'log'> & { readonly parts: readonly string[] } {
  try {
    const { positionals, values } = parseArgs({
      allowPositionals: true,
      options: {
        rounds: { type: 'string', default: '3' },
        seconds: { type: 'string', default: '8' },
        scale: { type: 'string', default: '1' },
        against: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
    if (values.help) return exitWithUsage(0);
    const unknown = positionals.find((name) => !(name in PARTS));
    if (unknown !== undefined) return exitWithUsage(2, `There is no part "${unknown}".`);
    const [rounds, seconds, scale] = [Number(values.rounds), Number(values.seconds), Number(values.scale)];
    if (!(rounds >= 1 && rounds <= 20)) return exitWithUsage(2, `"${values.rounds}" rounds are not possible.`);
    if (!(seconds >= 1 && seconds <= 120))
      return exitWithUsage(2, `Steps of "${values.seconds}" seconds are not possible.`);
    if (!(scale > 0 && scale <= 1)) return exitWithUsage(2, `The scale "${values.scale}" is not possible.`);
    const parts = positionals.length > 0 ? positionals : DEFAULT_PARTS;
    return { parts, rounds, seconds, scale, against: values.against && resolveShortHash(values.against) };
  } catch (error) {
    return exitWithUsage(2, (error as Error).message);
  }
}

function resolveShortHash(commit: string): string {
  const options = { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' } as const;
  return execFileSync('git', ['rev-parse', '--short', '--verify', `${commit}^{commit}`], options).trim();
}

function exitWithUsage(code: 0 | 2, problem?: string): never {
  if (problem !== undefined) console.error(problem);
  const usage = `usage: ./svc bench [${Object.keys(PARTS).join('] [')}] [--rounds 1-20 (3)] [--seconds 1-120 (8)] [--scale 0-1 (1)] [--against <commit>]`;
  (code === 0 ? console.log : console.error)(usage);
  process.exit(code);
}
