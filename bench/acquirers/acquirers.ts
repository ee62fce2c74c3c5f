/** Part `acquirers` of the benchmark: measures the hosted payment with slow acquirers. */
import { findProblems, measurePlatforms, newLatencyTable, newRatesTable } from '../hosted-payment/payments.ts';
import type { PartOptions } from '../main.ts';
import { newPlatform } from '../platforms/platform.ts';
import type { Section } from '../report.ts';

const LATENCIES_MS = [300, 2_000];

export async function measureAcquirers(options: PartOptions): Promise<Section> {
  const systems = LATENCIES_MS.map((acquirerLatencyMs) =>
    newPlatform('rabbitmq', {
      name: `RabbitMQ, all in one, acquirer responds in ${acquirerLatencyMs} ms`,
      folder: `acquirer-${acquirerLatencyMs}`,
      acquirerLatencyMs,
    }),
  );
  const measurements = await measurePlatforms(systems, options);
  return {
    title: 'The acquirer responds in 300 and 2 000 ms',
    tables: [newRatesTable(measurements), newLatencyTable(measurements)],
    figures: [],
    problems: findProblems(measurements),
    data: measurements,
  };
}
