/** Part `acquirers`: the hosted payment with a slow acquirer. */
import type { PartOptions } from '../main.ts';
import { platform } from '../platforms/platform.ts';
import type { Section } from '../report.ts';
import type { Measurement } from './measure.ts';
import { legs, measureAlternating, problemsOf, rates } from './payments.ts';

const LATENCIES_MS = [300, 2_000];

export async function measureAcquirers(options: PartOptions): Promise<Section> {
  const runs: Measurement[] = [];
  for (const latencyMs of LATENCIES_MS) {
    const system = platform('rabbitmq', {}, `RabbitMQ, all in one, acquirer answers in ${latencyMs} ms`);
    runs.push(...(await measureAlternating([system], latencyMs, options)));
  }
  return {
    title: 'The acquirer answers in 300 and 2 000 ms',
    tables: [rates(runs), legs(runs)],
    plots: [],
    figures: [],
    problems: problemsOf(runs),
    data: runs,
  };
}
