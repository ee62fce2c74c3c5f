/** `upDownCounter` is a sum that can fall, such as open connections. The other kinds are those of OpenTelemetry. */
export type MetricKind = 'counter' | 'gauge' | 'upDownCounter' | 'histogram';

/** A label whose values are all known. */
interface ClosedLabel<Value extends string = string> {
  readonly values: readonly Value[];
}

/** A label whose values come from a bounded set outside the list. Never an id, and never a name that a merchant chooses. */
export interface OpenLabel<Value extends string = string> {
  /** The set, and about how many values it has. */
  readonly bound: string;
  /** Only a type: the values that the code may record. */
  readonly type?: Value;
}

export type MetricLabel = ClosedLabel | OpenLabel;
export type MetricLabels = Readonly<Record<string, MetricLabel>>;

export interface Metric {
  readonly kind: MetricKind;
  /** By UCUM: `s`, `By`, `1` for a share, `{payment}` for a number of payments; empty for a gauge that is 0 or 1. */
  readonly unit: string;
  readonly labels: MetricLabels;
  readonly meaning: string;
  /** Folder names of the apps that report it. `every`: each service. */
  readonly services: 'every' | readonly string[];
  /** Upper bounds of the buckets of a histogram, in its unit. */
  readonly buckets?: readonly number[];
  /** The statements or calls of one collection. A metric without this text is only counted in memory. */
  readonly cost?: string;
  /** The instrumentation library that creates the metric. Without it, the metric is created with `@svc/kernel`. */
  readonly library?: string;
}

/** The values that a label allows. */
export type LabelValue<Label> = Label extends { readonly values: readonly (infer Value extends string)[] }
  ? Value
  : Label extends { readonly type?: infer Value extends string }
    ? Value
    : string;
