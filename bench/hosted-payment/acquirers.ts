/** Part `acquirers` of the benchmark: measures the hosted payment with slow acquirers. */
import type { PartOptions } from '../main.ts';
import { newPlatform } from '../platforms/platform.ts';
import type { Section } from '../report.ts';
import type { Measurement } from './measure.ts';
import { findProblems, measureAlternating, newLatencyTable, newRatesTable } from './payments.ts';

const LATENCIES_MS = [300, 2_000];

export async function measureAcquirers(options: PartOptions): Promise<Section> {
  const runs: Measurement[] = [];
  for (const latencyMs of LATENCIES_MS) {
    const system = newPlatform('rabbitmq', {}, `RabbitMQ, all in one, acquirer responds in ${latencyMs} ms`);
    runs.push(...(await measureAlternating([system], latencyMs, options)));
  }
  return {
    title: 'The acquirer responds in 300 and 2 000 ms',
    tables: [newRatesTable(runs), newLatencyTable(runs)],
    plots: [],
    figures: [],
    problems: findProblems(runs),
    data: runs,
  };
}
