/** Part `tracing`: the cost of tracing, batched and with a tenth of the traces sampled. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PartOptions } from '../main.ts';
import { median } from '../measuring/percentiles.ts';
import { platform } from '../platforms/platform.ts';
import type { Section } from '../report.ts';
import { measureAlternating, problemsOf, rates } from './payments.ts';

const MIN_RATIO = 0.85;

export async function measureTracing(options: PartOptions): Promise<Section> {
  // A collector that accepts everything and stores nothing; its CPU counts as load.
  const collector = createServer((request, response) => {
    request.resume().on('end', () => response.setHeader('content-type', 'application/json').end('{}'));
  });
  collector.listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const { port } = collector.address() as AddressInfo;
  const traced = platform(
    'rabbitmq',
    {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_METRICS_EXPORTER: 'none',
      OTEL_LOGS_EXPORTER: 'none',
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.1',
    },
    'tracing on',
  );
  const runs = await measureAlternating([platform('rabbitmq', {}, 'tracing off'), traced], 0, options);
  collector.close();
  collector.closeAllConnections();
  const rate = (name: string): number =>
    median(runs.filter(({ system }) => system === name).map(({ completedPerSecond }) => completedPerSecond));
  return {
    title: 'Tracing, batched, 10 % sampled; RabbitMQ, all in one',
    tables: [rates(runs)],
    plots: [],
    figures: [
      {
        name: 'tracing on against off',
        value: rate('tracing on') / rate('tracing off'),
        unit: '',
        promised: MIN_RATIO,
      },
    ],
    problems: problemsOf(runs),
    data: runs,
  };
}
