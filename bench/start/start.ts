/** Part `start` of the benchmark: measures the duration of a second `./svc up`, and the memory of the idle platform. */
import { setTimeout as pause } from 'node:timers/promises';
import type { PartOptions } from '../main.ts';
import { readMemoryMb } from '../measuring/cpu.ts';
import { median } from '../measuring/percentiles.ts';
import { newPlatform } from '../platforms/platform.ts';
import { type Section, toThreeDigits } from '../report.ts';

const MAX_SECOND_START_SECONDS = 8;
const MAX_MEMORY_MB = 450;
/** Time between the start and the measurement of memory, for garbage collection. */
const IDLE_MS = 5_000;

export async function measureStart({ rounds, log }: PartOptions): Promise<Section> {
  const platform = newPlatform('rabbitmq');
  const startSeconds: number[] = [];
  const memory: Readonly<Record<string, number>>[] = [];
  for (let round = 1; round <= rounds; round++) {
    const running = await platform.start();
    await running.stop();
    const startedAt = performance.now();
    const restarted = await running.restart();
    startSeconds.push((performance.now() - startedAt) / 1_000);
    await pause(IDLE_MS);
    memory.push(
      Object.fromEntries(Object.entries(restarted.groups).map(([group, pids]) => [group, readMemoryMb(pids)])),
    );
    await restarted.stop();
    log(`round ${round} of ${rounds}: second start ${startSeconds.at(-1)!.toFixed(1)} s`);
  }
  const totals = memory.map((groups) => Object.values(groups).reduce((sum, value) => sum + value, 0));
  const groups = Object.keys(memory[0]!);
  return {
    title: 'Start, and memory when idle; RabbitMQ, all in one',
    tables: [
      {
        title: 'Second start, and memory when idle in MB (pages that processes share are counted once)',
        columns: ['', 'second start, s', ...groups, 'total'],
        rows: startSeconds.map((seconds, round) => [
          `round ${round + 1}`,
          toThreeDigits(seconds),
          ...groups.map((group) => toThreeDigits(memory[round]![group]!)),
          toThreeDigits(totals[round]!),
        ]),
      },
    ],
    figures: [
      {
        name: 'second start',
        value: median(startSeconds),
        unit: 's',
        promised: MAX_SECOND_START_SECONDS,
        direction: 'most',
      },
      { name: 'memory when idle', value: median(totals), unit: 'MB', promised: MAX_MEMORY_MB, direction: 'most' },
    ],
    problems: [],
    data: { startSeconds, memory },
  };
}
