import { cpus } from 'node:os';

/** Starts a measurement. The returned function returns the busy share of all processors since then, from 0 to 1. */
export function watchProcessors(): () => number {
  const from = processorTimes();
  return () => {
    const to = processorTimes();
    const all = to.all - from.all;
    return all === 0 ? 0 : 1 - (to.idle - from.idle) / all;
  };
}

/** Idle and total milliseconds since the machine started, summed over all processors. */
function processorTimes(): { idle: number; all: number } {
  const times = cpus().map((cpu) => cpu.times);
  const idle = times.reduce((sum, time) => sum + time.idle, 0);
  const all = times.reduce((sum, time) => sum + time.user + time.nice + time.sys + time.irq + time.idle, 0);
  return { idle, all };
}
