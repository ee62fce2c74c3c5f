/** Part `start`: the duration of a repeated `./svc up`, and the memory of an idle platform. */
import { setTimeout as pause } from 'node:timers/promises';
import type { PartOptions } from '../main.ts';
import { memoryOf } from '../measuring/cpu.ts';
import { median } from '../measuring/percentiles.ts';
import { platform } from '../platforms/platform.ts';
import { type Section, toThreeDigits } from '../report.ts';

const MAX_SECOND_START_SECONDS = 8;
const MAX_MEMORY_MB = 450;
/** Time for garbage collection after the start. */
const REST_MS = 5_000;

export async function measureStart({ rounds, log }: PartOptions): Promise<Section> {
  const starts: number[] = [];
  const memory: Readonly<Record<string, number>>[] = [];
  for (let round = 1; round <= rounds; round++) {
    const running = await platform('rabbitmq').start(0);
    await running.stop();
    const from = performance.now();
    const again = await running.restart();
    starts.push((performance.now() - from) / 1_000);
    await pause(REST_MS);
    memory.push(Object.fromEntries(Object.entries(again.groups).map(([group, pids]) => [group, memoryOf(pids)])));
    await again.stop();
    log(`round ${round} of ${rounds}: second start ${starts.at(-1)!.toFixed(1)} s`);
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
          toThreeDigits(seconds),
          ...groups.map((group) => toThreeDigits(memory[round]![group]!)),
          toThreeDigits(sums[round]!),
        ]),
      },
    ],
    plots: [],
    figures: [
      { name: 'second start', value: median(starts), unit: 's', promised: MAX_SECOND_START_SECONDS, direction: 'most' },
      { name: 'memory at rest', value: median(sums), unit: 'MB', promised: MAX_MEMORY_MB, direction: 'most' },
    ],
    problems: [],
    data: { starts, memory },
  };
}
