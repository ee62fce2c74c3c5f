/**
 * Part `tracing` of the benchmark: measures the cost of traces and metrics, with batched exports, a tenth of the traces
 * sampled, and all metrics.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PartOptions } from '../main.ts';
import { newPlatform } from '../platforms/platform.ts';
import type { Section } from '../report.ts';
import { medianRatio } from './measure.ts';
import { findProblems, getRate, measurePlatforms, newRatesTable } from './payments.ts';

/** The rate with traces and metrics must be at least this share of the rate without them. */
const MIN_RATIO = 0.95;

export async function measureTracing(options: PartOptions): Promise<Section> {
  // A collector that accepts everything and stores nothing. Its CPU is counted as `load`.
  const collector = createServer((request, response) => {
    request.resume().on('end', () => response.setHeader('content-type', 'application/json').end('{}'));
  });
  collector.listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const { port } = collector.address() as AddressInfo;
  const traced = newPlatform('rabbitmq', {
    name: 'tracing on',
    folder: 'tracing-on',
    settings: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_METRICS_EXPORTER: 'otlp',
      // So often that each slice of the load has exports.
      OTEL_METRIC_EXPORT_INTERVAL: '2000',
      OTEL_METRIC_EXPORT_TIMEOUT: '2000',
      OTEL_LOGS_EXPORTER: 'none',
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.1',
    },
  });
  const untraced = newPlatform('rabbitmq', { name: 'tracing off', folder: 'tracing-off' });
  const measurements = await measurePlatforms([untraced, traced], options);
  collector.close();
  collector.closeAllConnections();
  const [off, on] = measurements;
  return {
    title: 'Traces, batched, 10 % sampled, and all metrics; RabbitMQ, all in one',
    tables: [newRatesTable(measurements)],
    figures: [
      {
        name: 'tracing on against off',
        value: medianRatio(on!, off!, getRate),
        unit: '',
        promised: MIN_RATIO,
      },
    ],
    problems: findProblems(measurements),
    data: measurements,
  };
}
