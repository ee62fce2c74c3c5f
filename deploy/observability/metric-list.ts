import type { MetricKind } from '../../libs/contracts/src/metrics/metric.ts';
import { PAYMENT_METRICS } from '../../libs/contracts/src/metrics/payment-metrics.ts';
import { PLATFORM_METRICS } from '../../libs/contracts/src/metrics/platform-metrics.ts';

/** The list of libs/contracts/src/metrics, as the tools that Node.js runs directly can load it. */
export const METRIC_LIST = { ...PAYMENT_METRICS, ...PLATFORM_METRICS };
export type ListedMetric = keyof typeof METRIC_LIST;

/** Names and kinds that Prometheus gives to OpenTelemetry's units. Annotations in braces have none. */
const SUFFIXES: Readonly<Record<string, string>> = { s: '_seconds', By: '_bytes' };

const kindOf = (name: ListedMetric): MetricKind => METRIC_LIST[name].kind;
const sanitise = (name: string): string => name.replaceAll(/[^a-zA-Z0-9]+/g, '_');

/**
 * The name of a metric in Prometheus, as its OTLP endpoint and the OpenTelemetry Collector write it: with the unit, and
 * `_total` for a counter. A histogram has three series, which end with `_bucket`, `_sum` and `_count`.
 */
export function prometheusName(name: ListedMetric): string {
  const { unit } = METRIC_LIST[name];
  const suffix = unit === '1' && kindOf(name) === 'gauge' ? '_ratio' : (SUFFIXES[unit] ?? '');
  return `${sanitise(name)}${suffix}${kindOf(name) === 'counter' ? '_total' : ''}`;
}

export const prometheusLabel = sanitise;

/**
 * The names that the exporter of a process writes are without units. Each entry renames the series of these metrics, for a
 * Prometheus that reads the processes directly.
 */
export function relabelRules(): object[] {
  const renamed = (Object.keys(METRIC_LIST) as ListedMetric[])
    .map((name) => ({
      from: `${sanitise(name)}${kindOf(name) === 'counter' ? '_total' : ''}`,
      to: prometheusName(name),
    }))
    .filter(({ from, to }) => from !== to);
  return renamed.map(({ from, to }) => ({
    source_labels: ['__name__'],
    regex: `${from}(_bucket|_sum|_count)?`,
    target_label: '__name__',
    replacement: `${to}\${1}`,
  }));
}
