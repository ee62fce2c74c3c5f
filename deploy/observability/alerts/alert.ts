import { type ListedMetric, prometheusName } from '../metric-list.ts';

/** One alert, with its runbook and with the series of its tests. */
export interface Alert {
  readonly name: string;
  /** The metrics of the expression. A metric that is not in the list does not compile. */
  readonly metrics: readonly ListedMetric[];
  /** PromQL. */
  readonly expression: string;
  /** How long the expression must hold, such as `5m`. */
  readonly for: string;
  /** `page`: a person must act now. `ticket`: on the next working day. */
  readonly severity: 'page' | 'ticket';
  /** Labels of the expression's result. */
  readonly labels: readonly string[];
  readonly runbook: Runbook;
  readonly test: AlertTest;
}

export interface Runbook {
  readonly meaning: string;
  /** Markdown, one step each. */
  readonly look: readonly string[];
  /** Markdown: what ends it. */
  readonly act: readonly string[];
}

/** Series in the notation of `promtool test rules`, one value each minute. */
export interface AlertTest {
  readonly firing: readonly Series[];
  readonly silent: readonly Series[];
  /** Time of the evaluation. */
  readonly at: string;
  /** Labels of the alert that fires. */
  readonly labels: Readonly<Record<string, string>>;
}

export interface Series {
  readonly series: string;
  readonly values: string;
}

type AlertText = Pick<Alert, 'name' | 'severity' | 'runbook'> & { readonly labels?: Readonly<Record<string, string>> };

/** Braces with the labels of the test, and further matchers. */
const selector = (labels: Readonly<Record<string, string>>): string => {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(', ')}}`;
};

interface GaugeAlert extends AlertText {
  readonly metric: ListedMetric;
  readonly is: '>' | '<';
  readonly limit: number;
  /** Default: five minutes. */
  readonly for?: string;
}

/** Fires when a gauge is over, or under, a limit. `labels` are those of the result, with the values of the test. */
export function gaugeAlert({ metric, is, limit, labels = {}, for: duration = '5m', ...text }: GaugeAlert): Alert {
  const name = prometheusName(metric);
  const names = Object.keys(labels);
  const aggregation = is === '>' ? 'max' : 'min';
  const series = `${name}${selector(labels)}`;
  const beyond = is === '>' ? limit + 1 : limit - 1;
  return {
    ...text,
    metrics: [metric],
    expression: `${aggregation}${names.length > 0 ? ` by (${names.join(', ')})` : ''} (${name}) ${is} ${limit}`,
    for: duration,
    labels: names,
    test: {
      firing: [{ series, values: `${beyond}x120` }],
      silent: [{ series, values: `${limit}x120` }],
      at: '90m',
      labels,
    },
  };
}

interface CounterAlert extends AlertText {
  readonly metric: ListedMetric;
  /** Further matchers, such as `effect="incident"`. */
  readonly where?: Readonly<Record<string, string>>;
  /** More than this number within an hour. Default: 0. */
  readonly perHour?: number;
}

/** Fires for an hour after a counter has grown. A series that appears for the first time has grown too. */
export function counterAlert({ metric, where = {}, perHour = 0, labels = {}, ...text }: CounterAlert): Alert {
  const name = prometheusName(metric);
  const names = Object.keys(labels);
  const by = names.length > 0 ? ` by (${names.join(', ')})` : '';
  const counter = `${name}${selector(where)}`;
  const series = `${name}${selector({ ...labels, ...where })}`;
  return {
    ...text,
    metrics: [metric],
    expression:
      `sum${by} (increase(${counter}[1h])) > ${perHour}` +
      ` or sum${by} (${counter} unless ${counter} offset 1h) > ${perHour}`,
    for: '0m',
    labels: names,
    test: {
      firing: [{ series, values: `_x60 ${perHour + 1}x60` }],
      silent: [{ series, values: `${perHour + 5}x120` }],
      at: '100m',
      labels,
    },
  };
}
