/** Writes the figures and tables of README.md that follow from apps.ts. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEPLOYED_APPS, type DeployedApp, type Destination, maxConnections, maxOldSpaceMi } from './apps.ts';
import { ownerSecretName } from './migration-job.ts';
import { sumConnections } from './optional/cloudnative-pg.ts';

/** Peaks that `./svc bench memory` measured: MiB of each app's memory, from the start to the end of the load. */
export interface MeasuredMemory {
  /** How the memory was measured, in a sentence. */
  readonly method: string;
  readonly peakMi: Readonly<Record<string, number>>;
}

export function readMeasuredMemory(): MeasuredMemory {
  return JSON.parse(readFileSync(join(import.meta.dirname, 'measured-memory.json'), 'utf8')) as MeasuredMemory;
}

/** Replaces the text between `<!-- generated: NAME -->` and `<!-- end -->`. @throws Error if a section is missing or unknown */
export function writeFigures(readme: string): string {
  const sections: Readonly<Record<string, string>> = {
    connections: describeConnections(),
    destinations: createDestinationTable(),
    secrets: createSecretTable(),
    resources: createResourceTable(),
  };
  const names = [...readme.matchAll(/<!-- generated: ([a-z]+) -->/g)].map(([, name]) => name!);
  if (names.toSorted().join() !== Object.keys(sections).toSorted().join())
    throw new Error(`README.md has the generated sections ${names.join(', ')}`);
  return readme.replace(/^( *)<!-- generated: ([a-z]+) -->\n[^]*?<!-- end -->/gm, (_, indent: string, name: string) => {
    const lines = [`<!-- generated: ${name} -->`, '', ...sections[name]!.trimEnd().split('\n'), '', '<!-- end -->'];
    return lines.map((line) => (line === '' ? '' : indent + line)).join('\n');
  });
}

function describeConnections(): string {
  const platform = sumConnections(DEPLOYED_APPS.filter(({ component }) => component === 'platform'));
  const demo = sumConnections(DEPLOYED_APPS.filter(({ component }) => component === 'demo'));
  const largest = DEPLOYED_APPS.toSorted((first, second) => maxConnections(second) - maxConnections(first))[0]!;
  return (
    `At their replica limits, and with the replica that a rollout adds, the apps open at most **${platform}** connections ` +
    `(${largest.name} alone ${maxConnections(largest)}), and the demo shop ${demo} more.\n`
  );
}

function createDestinationTable(): string {
  return createTable(
    ['App', 'Connects to'],
    DEPLOYED_APPS.map(({ name, connectsTo, inDemo }) => [
      `\`${name}\``,
      [...connectsTo.map(toText), ...(inDemo?.connectsTo ?? []).map((to) => `${toText(to)} (in a demonstration)`)].join(
        ', ',
      ) || 'nothing',
    ]),
  );
}

function toText(destination: Destination): string {
  if (typeof destination === 'object') return `\`${destination.app}\``;
  const names = { postgresql: 'PostgreSQL', rabbitmq: 'RabbitMQ', internet: 'the internet (443, 8443)' };
  return names[destination];
}

function createSecretTable(): string {
  const rows = DEPLOYED_APPS.filter(({ secrets }) => secrets.length > 0).map(({ name, secrets, mountedSecret }) => [
    [`\`${name}\``, ...(mountedSecret === undefined ? [] : [`and \`${mountedSecret.secret}\` (a file)`])].join(' '),
    secrets.map((key) => `\`${key}\``).join(', '),
  ]);
  return createTable(
    ['Secret', 'Keys'],
    [
      ...rows,
      [`\`${ownerSecretName('APP')}\` of each app with a database`, '`SVC_DATABASE_URL` of the owner of its schema'],
    ],
  );
}

function createResourceTable(): string {
  const { method, peakMi } = readMeasuredMemory();
  const table = createTable(
    ['App', 'Replicas', 'CPU request', 'Memory limit', '`--max-old-space-size`', 'Measured peak'],
    DEPLOYED_APPS.map((app) => [
      `\`${app.name}\``,
      formatReplicas(app),
      `${app.resources.cpuMillis}m`,
      `${app.resources.memoryMi} MiB`,
      String(maxOldSpaceMi(app.resources)),
      peakMi[app.name] === undefined ? '–' : `${peakMi[app.name]} MiB`,
    ]),
  );
  return `${table}\n${method}\n`;
}

function formatReplicas({ replicas, scaling }: DeployedApp): string {
  if (typeof replicas === 'object') return `${replicas.min}–${replicas.max}`;
  return scaling === undefined ? String(replicas) : `${replicas}, with KEDA to ${scaling.maxReplicas}`;
}

/** A table of Markdown in the format of Prettier: all cells of a column have the same width. */
function createTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((cell, column) => Math.max(cell.length, ...rows.map((row) => row[column]!.length)));
  const toLine = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`;
  const separator = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return `${[toLine(head), separator, ...rows.map(toLine)].join('\n')}\n`;
}
