import type { LabelValue, Metric, MetricKind } from './metric.js';
import { PAYMENT_METRICS } from './payment-metrics.js';
import { PLATFORM_METRICS } from './platform-metrics.js';

/**
 * All metrics of the platform. `createCounter`, `createHistogram` and `observeMetrics` of `@svc/kernel` create only these.
 * docs/metrics.md, the alert rules and the dashboards (deploy/observability) are made from this list.
 */
export const METRICS = { ...PAYMENT_METRICS, ...PLATFORM_METRICS } as const satisfies Readonly<Record<string, Metric>>;

type Metrics = typeof METRICS;
export type MetricName = keyof Metrics;

/** The metrics of these kinds that our own code creates. */
export type MetricOfKind<Kind extends MetricKind> = {
  [Name in MetricName]: Metrics[Name] extends { readonly library: string }
    ? never
    : Metrics[Name]['kind'] extends Kind
      ? Name
      : never;
}[MetricName];

/** The labels of a metric, with the values that each allows. */
export type LabelsOf<Name extends MetricName> = {
  readonly [Label in keyof Metrics[Name]['labels']]: LabelValue<Metrics[Name]['labels'][Label]>;
};
