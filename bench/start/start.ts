/** Part `start`: how long `./svc up` takes when it has run before, and what the platform needs while nobody pays. */
import { setTimeout as pause } from 'node:timers/promises';
import { platform } from '../platforms/platform.ts';
import type { PartOptions } from '../main.ts';
import { memoryOf } from '../measuring/cpu.ts';
import { median } from '../measuring/percentiles.ts';
import { rounded, type Section } from '../report.ts';

const SECOND_START_S = 8;
const MEMORY_MB = 450;
/** What starting has left behind is collected by then. */
const REST_MS = 5_000;

export async function measureStart({ rounds, say }: PartOptions): Promise<Section> {
  const starts: number[] = [];
  const memory: Readonly<Record<string, number>>[] = [];
  for (let round = 1; round <= rounds; round++) {
    const running = await platform('rabbitmq').start(0);
    await running.stop();
    const from = performance.now();
    const again = await running.startAgain();
    starts.push((performance.now() - from) / 1_000);
    await pause(REST_MS);
    memory.push(Object.fromEntries(Object.entries(again.groups).map(([group, pids]) => [group, memoryOf(pids)])));
    await again.stop();
    say(`round ${round} of ${rounds}: second start ${starts.at(-1)!.toFixed(1)} s`);
  }
  const sums = memory.map((groups) => Object.values(groups).reduce((sum, value) => sum + value, 0));
  const groups = Object.keys(memory[0]!);
  return {
    title: 'Start and rest; RabbitMQ, all in one',
    tables: [
      {
        title: 'Second start, and memory at rest in MB (pages that processes share counted once)',
        columns: ['', 'second start, s', ...groups, 'in all'],
        rows: starts.map((seconds, round) => [
          `round ${round + 1}`,
          rounded(seconds),
          ...groups.map((group) => rounded(memory[round]![group]!)),
          rounded(sums[round]!),
        ]),
      },
    ],
    plots: [],
    figures: [
      { name: 'second start', value: median(starts), unit: 's', promised: SECOND_START_S, direction: 'most' },
      { name: 'memory at rest', value: median(sums), unit: 'MB', promised: MEMORY_MB, direction: 'most' },
    ],
    problems: [],
    data: { starts, memory },
  };
}
