import { scaleBand, scaleLinear } from 'd3-scale';
import type { ComponentChildren } from 'preact';

const WIDTH = 640;
const HEIGHT = 200;
const MARGIN = { top: 12, right: 8, bottom: 24, left: 92 };
const TICKS = 4;

interface Bar {
  /** Under the bar. */
  readonly label: string;
  /** In the tooltip, beside the amount. */
  readonly name: string;
  readonly cents: number;
}

interface BarChart {
  readonly title: string;
  readonly bars: readonly Bar[];
  /** A label for each of so many bars, because more would not fit. */
  readonly labelStep: number;
  readonly format: (cents: number) => string;
  /** The same numbers as a table. Absent if the page has one. */
  readonly children?: ComponentChildren;
}

/** Amounts as bars. */
export function BarChart({ title, bars, labelStep, format, children }: BarChart) {
  const x = scaleBand<number>()
    .domain(bars.map((_, index) => index))
    .range([MARGIN.left, WIDTH - MARGIN.right])
    .padding(0.2);
  const cents = bars.map((bar) => bar.cents);
  const range = [HEIGHT - MARGIN.bottom, MARGIN.top];
  const y = scaleLinear([Math.min(0, ...cents), Math.max(100, ...cents)], range).nice(TICKS);
  return (
    <figure>
      <figcaption>{title}</figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={title} class="chart">
        {y.ticks(TICKS).map((tick) => (
          <g>
            <line x1={MARGIN.left} x2={WIDTH - MARGIN.right} y1={y(tick)} y2={y(tick)} class="grid" />
            <text x={MARGIN.left - 8} y={y(tick)} dy="0.32em" text-anchor="end">
              {format(Math.round(tick)).replace(/[.,]00$/, '')}
            </text>
          </g>
        ))}
        {bars.map((bar, index) => (
          <g>
            <rect
              x={x(index)}
              width={x.bandwidth()}
              y={Math.min(y(bar.cents), y(0))}
              height={Math.abs(y(0) - y(bar.cents))}
              class="bar"
            >
              <title>{`${bar.name}: ${format(bar.cents)}`}</title>
            </rect>
            {index % labelStep === 0 ? (
              <text x={x(index)! + x.bandwidth() / 2} y={HEIGHT - 6} text-anchor="middle">
                {bar.label}
              </text>
            ) : null}
          </g>
        ))}
      </svg>
      {children}
    </figure>
  );
}
