import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DASHBOARDS } from '../../../deploy/observability/dashboards.ts';
import { chart, formatValue } from './chart.ts';
import { renderDashboard } from './dashboard-page.ts';
import { formatLegend, MAX_SERIES, querySeries, type Series, toPromQL } from './range-query.ts';

const RANGE = { from: Date.UTC(2026, 10, 22, 9), to: Date.UTC(2026, 10, 22, 10) };
const line = (legend: string, ...values: number[]): Series => ({
  legend,
  points: values.map((value, index) => ({ at: RANGE.from + index * 30_000, value })),
});

test('variables of Grafana become every value, and a window of several samples', () => {
  expect(toPromQL('rate(a{mode=~"$mode"}[$__rate_interval])', 5)).toBe('rate(a{mode=~".*"}[20s])');
  expect(toPromQL('rate(a[$__rate_interval])', 60)).toBe('rate(a[120s])');
});

test('a legend has the values of its labels', () => {
  expect(formatLegend('{{service}} → {{target}}', { service: 'identity', target: 'events' })).toBe('identity → events');
  expect(formatLegend('p99 {{missing}}', {})).toBe('p99');
});

test.each([
  [0.0421, 's', '42.1 ms'],
  [12, 's', '12 s'],
  [0.985, 'percentunit', '98.5 %'],
  [3_145_728, 'bytes', '3 MiB'],
  [1.5, 'reqps', '1.5/s'],
] as const)('%d %s is %s', (value, unit, text) => expect(formatValue(value, unit)).toBe(text));

describe('a chart', () => {
  const pathsOf = (svg: string): string[] => [...svg.matchAll(/class="line" d="([^"]+)"/g)].map(([, path]) => path!);

  test('has a line for each series, each with its own dashes and mark', () => {
    const svg = chart('Title', 'short', [line('one', 1, 2), line('two', 2, 1)], RANGE);
    expect(pathsOf(svg)).toHaveLength(2);
    expect(new Set(svg.match(/stroke-dasharray="[^"]*"/g)).size).toBe(2);
    expect(svg).toContain('<title>two: 1</title>');
  });

  test('interrupts a line without values', () => {
    const { points } = line('one', 1, 1, 1, 1, 1, 1, 1, 1);
    const svg = chart('Title', 'short', [{ legend: 'one', points: points.filter((_, i) => i < 2 || i > 5) }], RANGE);
    expect(pathsOf(svg)[0]!.match(/M/g)).toHaveLength(2);
  });

  test('has at most eight lines, and no markup of labels', () => {
    const svg = chart(
      '<b>',
      'short',
      Array.from({ length: 20 }, () => line('<script>', 1, 2)),
      RANGE,
    );
    expect(pathsOf(svg)).toHaveLength(MAX_SERIES);
    expect(svg).not.toMatch(/<b>|<script>/);
  });

  test('names times of the day with 24 hours', () => {
    const from = Date.parse('2026-03-01T14:40:00Z');
    const svg = chart('Title', 's', [], { from, to: from + 900_000 });
    expect([...svg.matchAll(/>(\d\d:\d\d)</g)].map(([, time]) => time)).toEqual(['14:40', '14:45', '14:50', '14:55']);
  });

  test('without series is empty', () => expect(pathsOf(chart('Title', 's', [], RANGE))).toEqual([]));
});

describe('a page', () => {
  let prometheus: Server;
  let url: string;
  let queries: string[];
  let body: object;
  beforeEach(async () => {
    queries = [];
    const values = [
      [RANGE.to / 1_000 - 60, '0.5'],
      [RANGE.to / 1_000 - 30, 'NaN'],
    ];
    body = { data: { result: [{ metric: { outcome: '<success>' }, values }] } };
    prometheus = createServer((request, response) => {
      queries.push(new URL(request.url!, 'http://prometheus').searchParams.get('query')!);
      response.end(JSON.stringify(body));
    });
    await new Promise<void>((resolve) => prometheus.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(prometheus.address() as AddressInfo).port}`;
  });
  afterEach(() => {
    prometheus.closeAllConnections();
    prometheus.close();
  });
  const render = (name: string): Promise<string | undefined> =>
    renderDashboard({ name, minutes: 60, now: new Date(RANGE.to), prometheusUrl: url });

  test.each(Object.keys(DASHBOARDS))(
    'of %s has each of its panels and queries, without markup of labels',
    async (name) => {
      const { panels } = DASHBOARDS[name]!;
      const page = (await render(name))!;
      expect(page.match(/<figure>/g)).toHaveLength(panels.length);
      expect(queries).toHaveLength(panels.flatMap((panel) => Object.keys(panel.queries)).length);
      expect(queries.filter((query) => query.includes('$'))).toEqual([]);
      expect(page).not.toContain('<success>');
    },
  );

  test('of an unknown dashboard does not exist', async () => {
    expect(await render('toString')).toBeUndefined();
    expect(queries).toEqual([]);
  });

  test('leaves out a quantile without events', async () => {
    const [series] = await querySeries(url, { queries: { p99: 'x' } }, RANGE);
    expect(series!.points.map(({ value }) => value)).toEqual([0.5]);
  });

  test('fails with the reason of Prometheus', async () => {
    body = { error: 'parse error' };
    await expect(render('payments')).rejects.toThrow('parse error');
  });
});
