/**
 * Part `memory` of the benchmark: the memory and the processor time of each app, and the work of PostgreSQL, while the platform
 * is saturated with hosted payments for some minutes. Each app has the memory limit and the heap limit of its container
 * (deploy/apps.ts). Writes the peaks into deploy/measured-memory.json, from which `node deploy/generate.ts` makes the table in
 * deploy/README.md. docs/scaling.md has the other results.
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DEPLOYED_APPS, maxOldSpaceMi } from '../../deploy/apps.ts';
import type { MeasuredMemory } from '../../deploy/figures.ts';
import { readProcesses } from '../../tools/svc/processes/processes.ts';
import { MerchantEndpoint } from '../hosted-payment/merchant-endpoint.ts';
import { Payers } from '../hosted-payment/payer.ts';
import type { PartOptions } from '../main.ts';
import { type CpuMs, readCpuMs, subtractCpu } from '../measuring/cpu.ts';
import { forSeconds, runClosedLoad } from '../measuring/open-loop.ts';
import { newPlatform, ROOT, type RunningPlatform } from '../platforms/platform.ts';
import { type Section, type Table, toThreeDigits } from '../report.ts';
import { type DatabaseActivity, DatabaseWatch, toTableOfTables } from './database-activity.ts';
import { createMemoryGroup, type MemoryGroup } from './memory-groups.ts';

const PAYERS = 48;
/** The load takes this many steps of `--seconds`. */
const STEPS = 30;
/** A peak above this share of the limit leaves too little for a load that differs from the measured one. */
const MAX_SHARE = 0.85;
const ENTER_GROUP = pathToFileURL(join(import.meta.dirname, 'enter-group.ts')).href;

interface AppMemory {
  readonly name: string;
  readonly limitMi: number;
  readonly peakMi: number;
  readonly restarts: number;
  readonly kills: number;
}

export async function measureMemory({ seconds, log }: PartOptions): Promise<Section> {
  const running = await newPlatform('distributed', { folder: 'memory' }).start();
  const endpoint = await MerchantEndpoint.start(running.merchant.webhookSecret);
  const payers = new Payers(running.merchant, endpoint);
  const groups = new Map<string, MemoryGroup>();
  try {
    limitApps(running, groups);
    log(groups.size > 0 ? 'each app has a memory cgroup with its limit' : 'no memory cgroups on this machine');
    await running.svc('restart');
    await running.svc('restart', 'simulated-acquirer');
    const restartsBefore = countRestarts(running);
    const database = await DatabaseWatch.start(running.sql);
    const processorTimeBefore = readProcessorTime(running);
    const startedAt = performance.now();
    const failures: unknown[] = [];
    const payments = await runClosedLoad(PAYERS, forSeconds(STEPS * seconds), () =>
      payers.pay(performance.now()).catch((error: unknown) => failures.push(error)),
    );
    const loadSeconds = (performance.now() - startedAt) / 1_000;
    log(`${payments} payments in ${loadSeconds.toFixed(0)} s`);
    const apps = readMemory(running, groups, restartsBefore);
    const processorTime = subtractCpu(readProcessorTime(running), processorTimeBefore);
    const activity = await database.stop(payments);
    writeMeasuredMemory(apps, payments / loadSeconds, loadSeconds, groups.size > 0);
    return toSection({ apps, payments, processorTime, activity }, failures);
  } finally {
    await payers.close();
    await running.stop();
    await endpoint.stop();
    for (const group of groups.values()) group.remove();
  }
}

/** Adds the limits to the variables of each app, which its next start reads. */
function limitApps({ dataDir }: RunningPlatform, groups: Map<string, MemoryGroup>): void {
  for (const { name, resources } of DEPLOYED_APPS) {
    const file = join(dataDir, 'env', `${name}.env`);
    if (!existsSync(file)) continue;
    const group = createMemoryGroup(name, resources.memoryMi);
    if (group !== undefined) groups.set(name, group);
    const options = [`--max-old-space-size=${maxOldSpaceMi(resources)}`];
    const variables = group === undefined ? '' : `MEMORY_GROUP="${group.folder}"\n`;
    appendFileSync(file, `NODE_OPTIONS="${[...options, `--import=${ENTER_GROUP}`].join(' ')}"\n${variables}`);
  }
}

function countRestarts({ dataDir }: RunningPlatform): Map<string, number> {
  const processes = readProcesses(join(dataDir, 'run', 'processes.json'));
  return new Map(Object.entries(processes).map(([name, { restarts }]) => [name, restarts]));
}

function readMemory(
  { dataDir }: RunningPlatform,
  groups: ReadonlyMap<string, MemoryGroup>,
  restartsBefore: ReadonlyMap<string, number>,
): AppMemory[] {
  const processes = readProcesses(join(dataDir, 'run', 'processes.json'));
  return DEPLOYED_APPS.flatMap(({ name, resources }) => {
    const running = Object.entries(processes).find(([app]) => app === name)?.[1];
    if (running === undefined) return [];
    // The largest resident memory since the process started.
    const peakKilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${running.pid}/status`, 'utf8'))?.[1];
    return [
      {
        name,
        limitMi: resources.memoryMi,
        peakMi: Math.ceil(Number(peakKilobytes) / 1_024),
        restarts: running.restarts - (restartsBefore.get(name) ?? 0),
        kills: groups.get(name)?.countKills() ?? 0,
      },
    ];
  });
}

/** Milliseconds by app, and those of PostgreSQL and RabbitMQ. */
function readProcessorTime({ dataDir, groups }: RunningPlatform): CpuMs {
  const processes = Object.entries(readProcesses(join(dataDir, 'run', 'processes.json')));
  const { services: _, ...servers } = groups;
  return readCpuMs({ ...Object.fromEntries(processes.map(([name, { pid }]) => [name, [pid]])), ...servers });
}

function writeMeasuredMemory(apps: readonly AppMemory[], perSecond: number, seconds: number, hasGroups: boolean): void {
  const killed = apps.filter(({ kills, restarts }) => kills + restarts > 0).length;
  const measured: MeasuredMemory = {
    method:
      `The peaks are the largest resident memory of one process during ${seconds.toFixed(0)} s of hosted payments at saturation ` +
      `(${perSecond.toFixed(0)} a second on two processors, which also run PostgreSQL, RabbitMQ and the load)` +
      (hasGroups
        ? `, each in a memory cgroup with its limit; ${killed === 0 ? 'none' : killed} of them was killed`
        : '') +
      '. This load hardly uses code-decoder, console and demo-shop. `./svc bench memory` measures them.',
    peakMi: Object.fromEntries(apps.map(({ name, peakMi }) => [name, peakMi])),
  };
  writeFileSync(join(ROOT, 'deploy/measured-memory.json'), `${JSON.stringify(measured, null, 2)}\n`);
}

interface Results {
  readonly apps: readonly AppMemory[];
  readonly payments: number;
  readonly processorTime: CpuMs;
  readonly activity: DatabaseActivity;
}

function toSection(results: Results, failures: readonly unknown[]): Section {
  const { apps, activity } = results;
  const largestShare = Math.max(...apps.map(({ peakMi, limitMi }) => peakMi / limitMi));
  const killed = apps.filter(({ kills, restarts }) => kills + restarts > 0);
  return {
    title: 'Memory of each app, saturated with hosted payments; RabbitMQ, a process each',
    tables: [
      {
        title: 'Largest resident memory against the limit, MiB',
        columns: ['', 'peak', 'limit', 'restarts', 'killed'],
        rows: apps.map(({ name, peakMi, limitMi, restarts, kills }) =>
          [name, peakMi, limitMi, restarts, kills].map(String),
        ),
      },
      ...toCostTables(results),
      toTableOfTables(activity),
    ],
    figures: [
      { name: 'largest peak against its limit', value: largestShare, unit: '', promised: MAX_SHARE, direction: 'most' },
    ],
    problems: [
      ...killed.map(({ name }) => `${name} ended during the load`),
      ...(failures.length > 0 ? [`${toThreeDigits(failures.length)} payments failed: ${String(failures[0])}`] : []),
    ],
    data: results,
  };
}

function toCostTables({ payments, processorTime, activity }: Results): Table[] {
  const { commits, writingTransactions, walBytes } = activity.perPayment;
  return [
    {
      title: 'Processor time of one payment, ms',
      columns: ['', 'ms'],
      rows: Object.entries(processorTime).map(([name, ms]) => [name, toThreeDigits(ms / payments)]),
    },
    {
      title: 'PostgreSQL, for one payment',
      columns: ['commits', 'transaction ids', 'bytes of WAL'],
      rows: [[commits, writingTransactions, walBytes].map(toThreeDigits)],
    },
    {
      title: 'Connections to PostgreSQL, maximum',
      columns: ['role', 'connections'],
      rows: Object.entries(activity.maxConnections).map(([role, count]) => [role, String(count)]),
    },
  ];
}
