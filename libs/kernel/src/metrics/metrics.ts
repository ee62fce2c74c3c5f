import { type BatchObservableResult, type Meter, metrics, type Observable } from '@opentelemetry/api';
import { type LabelsOf, type Metric, type MetricName, type MetricOfKind, METRICS } from '@svc/contracts';

/** The labels of a metric. A metric without labels takes no argument. */
type LabelArguments<Name extends MetricName> = keyof LabelsOf<Name> extends never ? [] : [labels: LabelsOf<Name>];

export interface Counter<Name extends MetricName> {
  add(value: number, ...labels: LabelArguments<Name>): void;
}

export interface Histogram<Name extends MetricName> {
  record(value: number, ...labels: LabelArguments<Name>): void;
}

type ObservedName = MetricOfKind<'gauge' | 'upDownCounter'>;

/** Reports the current value of one of the observed metrics. */
export type Observe<Names extends ObservedName> = <Name extends Names>(
  name: Name,
  value: number,
  ...labels: LabelArguments<Name>
) => void;

/** Call it when the metrics of the process are set up: in a constructor, not when a module is loaded. */
export function createCounter<Name extends MetricOfKind<'counter'>>(name: Name): Counter<Name> {
  return meter().createCounter(name, optionsOf(name));
}

/** As {@link createCounter}. */
export function createHistogram<Name extends MetricOfKind<'histogram'>>(name: Name): Histogram<Name> {
  const { buckets }: Metric = METRICS[name];
  const advice = buckets ? { explicitBucketBoundaries: [...buckets] } : {};
  return meter().createHistogram(name, { ...optionsOf(name), advice });
}

/** A collector waits ten seconds or less for all metrics of a process. */
const READ_TIMEOUT_MS = 3_000;

/**
 * Reports the current values of metrics whenever a collector reads them. `read` must not need more statements when there
 * are more payments; the list names its cost. A read that takes longer than three seconds reports nothing, so that an
 * exhausted database pool does not hide the other metrics of the process, and the next read begins when it has ended.
 *
 * @returns a function that ends the reporting
 */
export function observeMetrics<const Names extends ObservedName>(
  names: readonly Names[],
  read: (observe: Observe<Names>) => void | Promise<void>,
): () => void {
  const observing = meter();
  const instruments = new Map<MetricName, Observable>(names.map((name) => [name, createObservable(observing, name)]));
  let isReading = false;
  const callback = async (result: BatchObservableResult): Promise<void> => {
    if (isReading) return;
    isReading = true;
    const reading = Promise.resolve()
      .then(() => read((name, value, labels?: object) => result.observe(instruments.get(name)!, value, { ...labels })))
      .finally(() => (isReading = false));
    await endWithin(READ_TIMEOUT_MS, reading);
  };
  const observables = [...instruments.values()];
  observing.addBatchObservableCallback(callback, observables);
  return () => observing.removeBatchObservableCallback(callback, observables);
}

/** Waits for the promise, but not for longer than this time. */
async function endWithin(milliseconds: number, promise: Promise<unknown>): Promise<void> {
  const { promise: expired, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  try {
    await Promise.race([promise, expired]);
  } finally {
    clearTimeout(timer);
  }
}

function createObservable(observing: Meter, name: ObservedName): Observable {
  return METRICS[name].kind === 'gauge'
    ? observing.createObservableGauge(name, optionsOf(name))
    : observing.createObservableUpDownCounter(name, optionsOf(name));
}

const meter = (): Meter => metrics.getMeter('svc');

const optionsOf = (name: MetricName): { unit: string; description: string } => ({
  unit: METRICS[name].unit,
  description: METRICS[name].meaning,
});
