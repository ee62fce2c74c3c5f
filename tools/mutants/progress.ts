import { describeMutant } from './report.ts';
import type { Progress } from './runs/run-mutants.ts';

const PRINT_INTERVAL_MS = 10_000;

/** Prints a line every few seconds: the progress, and an estimate of the remaining time. */
export function createProgress(name: string): Progress {
  let saidAt = 0;
  let from = performance.now();
  const say = (text: string, isLast: boolean) => {
    if (!isLast && performance.now() - saidAt < PRINT_INTERVAL_MS) return;
    saidAt = performance.now();
    console.log(`  … ${name}: ${text}`);
  };
  return {
    recorded(_, done, all) {
      say(`${done} of ${all} spec files run without a mutant`, done === all);
      if (done === all) from = performance.now();
    },
    survived: (mutant) => console.log(`  survived: ${describeMutant(mutant)}`),
    failedLastResort: (reason) => console.log(`  not used: ${reason}`),
    judged(done, all, survived) {
      const seconds = (performance.now() - from) / 1000;
      const left = done === 0 ? '' : `, ${duration((seconds / done) * (all - done))} left`;
      say(`${done} of ${all} mutants judged, ${survived} survived, ${duration(seconds)}${left}`, done === all);
    },
  };
}

function duration(seconds: number): string {
  return seconds < 100 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;
}
