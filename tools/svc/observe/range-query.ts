/** Queries of a dashboard's panels, over a range of time. */
import type { Panel } from '../../../deploy/observability/dashboard.ts';

/** Times in milliseconds. */
export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

export interface Series {
  readonly legend: string;
  readonly points: readonly Point[];
}

interface Point {
  readonly at: number;
  readonly value: number;
}

/** The legend of Grafana: a text with names of labels in braces. */
interface RangeResult {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [seconds: number, value: string])[];
}

const POINTS = 120;
const MIN_STEP_SECONDS = 5;
const TIMEOUT_MS = 10_000;
/** Four times the interval in which Prometheus reads the metrics. */
const MIN_WINDOW_SECONDS = 20;
/** More lines in a chart are not readable. The rest is left out, and the page says how many. */
export const MAX_SERIES = 8;

export const stepSeconds = ({ from, to }: TimeRange): number =>
  Math.max(MIN_STEP_SECONDS, Math.ceil((to - from) / 1_000 / POINTS));

/** Replaces the variables of Grafana: every value of a label, and a window that holds several samples. */
export function toPromQL(expression: string, step: number): string {
  return expression
    .replaceAll('$__rate_interval', `${Math.max(MIN_WINDOW_SECONDS, step * 2)}s`)
    .replaceAll(/\$\w+/g, '.*');
}

export function formatLegend(legend: string, labels: Readonly<Record<string, string>>): string {
  return legend.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => labels[name] ?? '').trim();
}

/** The series of a panel. Throws if Prometheus does not answer. */
export async function querySeries(
  prometheusUrl: string,
  { queries }: Pick<Panel, 'queries'>,
  range: TimeRange,
): Promise<Series[]> {
  const results = await Promise.all(
    Object.entries(queries).map(([legend, expression]) => queryRange(prometheusUrl, legend, expression, range)),
  );
  return results.flat();
}

async function queryRange(
  prometheusUrl: string,
  legend: string,
  expression: string,
  range: TimeRange,
): Promise<Series[]> {
  const step = stepSeconds(range);
  const parameters = new URLSearchParams({
    query: toPromQL(expression, step),
    start: String(range.from / 1_000),
    end: String(range.to / 1_000),
    step: String(step),
  });
  const response = await fetch(`${prometheusUrl}/api/v1/query_range?${parameters.toString()}`, {
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const { data, error } = (await response.json()) as { data?: { result: RangeResult[] }; error?: string };
  if (data === undefined) throw new Error(`Prometheus answered ${response.status}: ${error ?? 'no result'}`);
  return data.result
    .map(({ metric, values }) => ({
      legend: formatLegend(legend, metric),
      // A quantile without events is NaN.
      points: values
        .map(([seconds, value]) => ({ at: seconds * 1_000, value: Number(value) }))
        .filter(({ value }) => Number.isFinite(value)),
    }))
    .filter(({ points }) => points.length > 0);
}
