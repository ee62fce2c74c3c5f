/** A panel as SVG. Lines differ in their dashes and in the marks at their ends, so a chart is readable without colour. */
import { scaleLinear, scaleUtc } from 'd3-scale';
import type { Unit } from '../../../deploy/observability/dashboard.ts';
import { escapeHtml } from './html.ts';
import { MAX_SERIES, type Series, stepSeconds, type TimeRange } from './range-query.ts';

const WIDTH = 480;
const HEIGHT = 190;
const MARGIN = { top: 10, right: 18, bottom: 22, left: 58 };
const TICKS = 4;
const TIME_TICKS = 5;
/** Without data the axis ends here. */
const SMALLEST_TOP: Readonly<Record<Unit, number>> = { s: 0.1, percentunit: 1, short: 1, reqps: 1, bytes: 1_048_576 };
/** A line is interrupted where more than this number of steps has no value. */
const GAP_STEPS = 2.5;

const DASHES = ['', '7 3', '2 3', '9 3 2 3', '12 4', '4 2 1 2', '1 4', '6 2 2 2 2 2'];
/** Marks around the point 0 0. */
const MARKS = [
  '<circle r="3"/>',
  '<path d="M-3-3h6v6h-6z"/>',
  '<path d="M 0-4l4 7h-8z"/>',
  '<path d="M 0-4l4 4-4 4-4-4z"/>',
  '<path d="M 0 4l4-7h-8z"/>',
  '<path d="M-3 0h6M0-3v6"/>',
  '<path d="M-3-3l6 6M-3 3l6-6"/>',
  '<path d="M-4-1h8v2h-8z"/>',
];

export function formatValue(value: number, unit: Unit): string {
  const round = (amount: number): string => String(Number(amount.toPrecision(3)));
  if (unit === 'percentunit') return `${round(value * 100)} %`;
  if (unit === 'bytes') return `${round(value / 1_048_576)} MiB`;
  if (unit === 'reqps') return `${round(value)}/s`;
  if (unit === 's') return value !== 0 && Math.abs(value) < 1 ? `${round(value * 1_000)} ms` : `${round(value)} s`;
  return round(value);
}

/** The mark and the dash of the series with this number, for the legend. */
export function legendMark(index: number): string {
  const line = `<path class="line" d="M0 7H30" stroke-dasharray="${DASHES[index % DASHES.length]}"/>`;
  return `<svg class="key" width="30" height="14" aria-hidden="true">${line}<g transform="translate(15 7)">${MARKS[index % MARKS.length]}</g></svg>`;
}

export function chart(title: string, unit: Unit, all: readonly Series[], range: TimeRange): string {
  const series = all.slice(0, MAX_SERIES);
  const x = scaleUtc([range.from, range.to], [MARGIN.left, WIDTH - MARGIN.right]);
  const values = series.flatMap(({ points }) => points.map(({ value }) => value));
  const top = Math.max(...values, SMALLEST_TOP[unit]);
  const y = scaleLinear([Math.min(0, ...values), top], [HEIGHT - MARGIN.bottom, MARGIN.top]).nice(TICKS);
  const formatTime = x.tickFormat(TIME_TICKS, '%H:%M');
  const grid = y.ticks(TICKS).map((tick) => {
    const at = y(tick).toFixed(1);
    return (
      `<path class="grid" d="M${MARGIN.left} ${at}H${WIDTH - MARGIN.right}"/>` +
      `<text x="${MARGIN.left - 6}" y="${at}" dy="0.32em" text-anchor="end">${formatValue(tick, unit)}</text>`
    );
  });
  const times = x
    .ticks(TIME_TICKS)
    .map((tick) => `<text x="${x(tick).toFixed(1)}" y="${HEIGHT - 6}" text-anchor="middle">${formatTime(tick)}</text>`);
  const gapMs = stepSeconds(range) * 1_000 * GAP_STEPS;
  const lines = series.map(({ legend, points }, index) => {
    const path = points
      .map(({ at, value }, number) => {
        const isGap = number === 0 || at - points[number - 1]!.at > gapMs;
        return `${isGap ? 'M' : 'L'}${x(at).toFixed(1)} ${y(value).toFixed(1)}`;
      })
      .join('');
    const { at, value } = points.at(-1)!;
    return (
      `<g><title>${escapeHtml(legend)}: ${formatValue(value, unit)}</title>` +
      `<path class="line" d="${path}" stroke-dasharray="${DASHES[index]}"/>` +
      `<g transform="translate(${x(at).toFixed(1)} ${y(value).toFixed(1)})">${MARKS[index]}</g></g>`
    );
  });
  const content = [...grid, ...times, ...lines].join('');
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escapeHtml(title)}">${content}</svg>`;
}
