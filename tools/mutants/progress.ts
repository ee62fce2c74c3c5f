import { describeMutant } from './report.ts';
import type { Progress } from './runs/run-mutants.ts';

const PRINT_INTERVAL_MS = 10_000;

/** Prints a line every few seconds: the progress, and an estimate of the remaining time. */
export function createProgress(name: string): Progress {
  let printedAt = 0;
  let startedAt = performance.now();
  const print = (text: string, isLast: boolean) => {
    if (!isLast && performance.now() - printedAt < PRINT_INTERVAL_MS) return;
    printedAt = performance.now();
    console.log(`  … ${name}: ${text}`);
  };
  return {
    recorded(_, done, all) {
      print(`${done} of ${all} spec files run without a mutant`, done === all);
      if (done === all) startedAt = performance.now();
    },
    survived: (mutant) => console.log(`  survived: ${describeMutant(mutant)}`),
    failedLastResort: (reason) => console.log(`  not used: ${reason}`),
    judged(done, all, survived) {
      const seconds = (performance.now() - startedAt) / 1000;
      const left = done === 0 ? '' : `, ${formatDuration((seconds / done) * (all - done))} left`;
      print(`${done} of ${all} mutants judged, ${survived} survived, ${formatDuration(seconds)}${left}`, done === all);
    },
  };
}

function formatDuration(seconds: number): string {
  return seconds < 100 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;
}
