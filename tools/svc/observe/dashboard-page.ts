/** The page of a dashboard: its panels in the order of deploy/observability/dashboards.ts. */
import type { Dashboard, Panel } from '../../../deploy/observability/dashboard.ts';
import { DASHBOARDS } from '../../../deploy/observability/dashboards.ts';
import { chart, formatValue, legendMark } from './chart.ts';
import { escapeHtml } from './html.ts';
import { MAX_SERIES, querySeries, type Series, type TimeRange } from './range-query.ts';

/** Minutes of the ranges that a reader can choose. */
export const RANGES = [15, 60, 180, 1_440] as const;
export type RangeMinutes = (typeof RANGES)[number];

const REFRESH_SECONDS = 30;
const STYLE = `
body{font:14px/1.4 system-ui,sans-serif;margin:1rem 1.5rem;color:#1b1f24;background:#fff}
nav a,nav strong{margin-right:1rem}
main{display:grid;grid-template-columns:repeat(auto-fill,minmax(26rem,1fr));gap:1rem}
figure{margin:0;padding:.6rem .8rem;border:1px solid #c8ccd1;border-radius:6px}
figcaption{font-weight:600}
svg{width:100%;height:auto;font-size:11px}
svg.key{width:30px;height:14px;vertical-align:middle;margin-right:.4rem}
.line{fill:none;stroke:#1b1f24;stroke-width:1.5}
.grid{stroke:#dcdfe3}
svg g g{fill:#fff;stroke:#1b1f24;stroke-width:1.3}
ul{margin:0;padding:0;list-style:none;font-size:12px;columns:2}
.stat{font-size:2rem;margin:1rem 0}
`;

interface DashboardPage {
  readonly name: string;
  readonly minutes: RangeMinutes;
  readonly now: Date;
  readonly prometheusUrl: string;
}

/** Undefined if there is no dashboard with this name. */
export async function renderDashboard({
  name,
  minutes,
  now,
  prometheusUrl,
}: DashboardPage): Promise<string | undefined> {
  const dashboard = Object.hasOwn(DASHBOARDS, name) ? DASHBOARDS[name] : undefined;
  if (dashboard === undefined) return undefined;
  const range = { from: now.getTime() - minutes * 60_000, to: now.getTime() };
  const figures = await Promise.all(dashboard.panels.map((panel) => renderPanel(panel, range, prometheusUrl)));
  return renderPage(dashboard, name, minutes, now, figures);
}

async function renderPanel(panel: Panel, range: TimeRange, prometheusUrl: string): Promise<string> {
  const series = await querySeries(prometheusUrl, panel, range);
  return `<figure><figcaption>${escapeHtml(panel.title)}</figcaption>${renderSeries(panel, series, range)}</figure>`;
}

function renderSeries({ title, unit, kind }: Panel, series: readonly Series[], range: TimeRange): string {
  if (kind === 'stat') {
    const last = series[0]?.points.at(-1);
    return `<p class="stat">${last === undefined ? 'no data' : formatValue(last.value, unit)}</p>`;
  }
  // The lines with the highest values are the interesting ones.
  const highest = series.toSorted((a, b) => maximumOf(b) - maximumOf(a));
  const items = highest
    .slice(0, MAX_SERIES)
    .map(({ legend }, index) => `<li>${legendMark(index)}${escapeHtml(legend)}</li>`);
  const rest = highest.length > MAX_SERIES ? `<li>${highest.length - MAX_SERIES} lower lines are left out</li>` : '';
  const none = highest.length === 0 ? '<li>no data</li>' : '';
  return `${chart(title, unit, highest, range)}<ul>${items.join('')}${rest}${none}</ul>`;
}

const maximumOf = ({ points }: Series): number => Math.max(...points.map(({ value }) => value));

function renderPage(
  { title }: Dashboard,
  name: string,
  minutes: RangeMinutes,
  now: Date,
  figures: readonly string[],
): string {
  const dashboards = Object.entries(DASHBOARDS).map(([other, { title: text }]) =>
    linkTo(`/${other}?minutes=${minutes}`, text.replace(/^.*: /, ''), other === name),
  );
  const ranges = RANGES.map((one) =>
    linkTo(`/${name}?minutes=${one}`, one < 60 ? `${one} minutes` : `${one / 60} h`, one === minutes),
  );
  return (
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title>` +
    `<meta http-equiv="refresh" content="${REFRESH_SECONDS}"><style>${STYLE}</style></head><body>` +
    `<h1>${escapeHtml(title)}</h1><nav>${dashboards.join('')}</nav><nav>${ranges.join('')}</nav>` +
    `<p>Until ${now.toISOString().slice(0, 19).replace('T', ' ')} UTC</p><main>${figures.join('')}</main></body></html>`
  );
}

function linkTo(path: string, text: string, isCurrent: boolean): string {
  return isCurrent
    ? `<strong aria-current="page">${escapeHtml(text)}</strong>`
    : `<a href="${escapeHtml(path)}">${escapeHtml(text)}</a>`;
}
