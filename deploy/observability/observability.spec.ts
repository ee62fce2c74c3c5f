import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { METRICS } from '../../libs/contracts/src/metrics/metrics.js';
import { DASHBOARDS } from './dashboards.ts';
import { findStaleObservability } from './generate.ts';
import { type ListedMetric, METRIC_LIST, prometheusName, relabelRules } from './metric-list.ts';
import { ALERTS } from './rules.ts';
import { SLOS } from './slos.ts';

const ROOT = join(import.meta.dirname, '../..');
const NAMES = Object.keys(METRIC_LIST) as ListedMetric[];
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** Names of series in PromQL. */
const seriesIn = (expression: string): string[] =>
  [...expression.matchAll(/\b(?:svc|db|http|nodejs|v8js)_\w+(?=[{[\s)]|$)/g)].map(([name]) => name);
const SERIES = new Set(
  NAMES.flatMap((name) => {
    const series = prometheusName(name);
    return METRIC_LIST[name].kind === 'histogram' ? ['_bucket', '_sum', '_count'].map((end) => series + end) : [series];
  }),
);
/** Labels may have the same prefixes as series. */
const LABELS = new Set(
  NAMES.flatMap((name) => Object.keys(METRIC_LIST[name].labels).map((label) => label.replaceAll(/\W/g, '_'))),
);
const findUnknown = (expression: string): string[] =>
  seriesIn(expression).filter((name) => !SERIES.has(name) && !LABELS.has(name));

test('the generated rules, dashboards and pages are those of the list', () => {
  expect(findStaleObservability()).toEqual([]);
});

test('the tools have the same list as the code', () => {
  expect(METRIC_LIST).toEqual(METRICS);
});

test('the code creates each metric of the list, except those of libraries', () => {
  const files = globSync(['apps/*/src/**/*.ts', 'libs/*/src/**/*.ts'], { cwd: ROOT }).filter(
    (file) => !/libs\/contracts\/src\/metrics|spec\.ts$/.test(file),
  );
  const code = files.map(read).join('\n');
  const own = NAMES.filter((name) => !('library' in METRIC_LIST[name]));
  expect(own.filter((name) => !code.includes(`'${name}'`))).toEqual([]);
});

test.each(ALERTS.map((alert) => [alert.name, alert] as const))('%s reads only listed metrics', (_, alert) => {
  expect(findUnknown(alert.expression)).toEqual([]);
  for (const metric of alert.metrics) expect(alert.expression).toContain(prometheusName(metric));
});

test.each(SLOS.map((slo) => [slo.alert, slo] as const))('%s reads only listed metrics', (_, slo) => {
  expect(seriesIn(slo.errorRatio('5m'))).not.toEqual([]);
  expect(findUnknown(slo.errorRatio('5m'))).toEqual([]);
});

test('an expression with a metric that is not listed is found', () => {
  expect(findUnknown('sum(rate(svc_payments_typo_total{mode="live"}[5m])) > 0')).toEqual(['svc_payments_typo_total']);
});

test.each(Object.entries(DASHBOARDS))('the dashboard %s reads only listed metrics', (_, { panels, variables }) => {
  const expressions = [...panels.flatMap(({ queries }) => Object.values(queries)), ...Object.values(variables)];
  expect(expressions.flatMap((expression) => findUnknown(expression.replaceAll('$__rate_interval', '5m')))).toEqual([]);
  expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
});

test('each alarm of operations.md has an alert', () => {
  const [, table = ''] = read('docs/operations.md').split('## Alarms');
  const cells = table
    .split('\n## ', 1)[0]!
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|')[1]!);
  const alarms = cells.flatMap((cell) => {
    const [first = '', ...others] = [...cell.matchAll(/`(svc\.[\w.]+|\.\w+)`/g)].map(([, name]) => name!);
    return [first, ...others.map((name) => (name.startsWith('.') ? first.replace(/\.\w+$/, name) : name))];
  });
  expect(alarms.length).toBeGreaterThan(20);
  const alerted = new Set<string>(ALERTS.flatMap(({ metrics }) => metrics));
  expect(alarms.filter((name) => !alerted.has(name))).toEqual([]);
});

test('each alert has a runbook, and names are unique', () => {
  const page = read('docs/runbooks.md');
  const names = [...ALERTS.map(({ name }) => name), ...SLOS.map(({ alert }) => alert)];
  expect(new Set(names).size).toBe(names.length);
  expect(names.filter((name) => !page.includes(`\n### ${name}\n`))).toEqual([]);
  const links = [...page.matchAll(/\]\(#(\w+)\)/g)].map(([, anchor]) => anchor);
  expect(links.filter((anchor) => !names.some((name) => name.toLowerCase() === anchor))).toEqual([]);
});

test('the names of Prometheus have the unit, and are those of no other metric', () => {
  expect(prometheusName('svc.relay.age')).toBe('svc_relay_age_seconds');
  expect(prometheusName('svc.payments')).toBe('svc_payments_total');
  expect(prometheusName('svc.velocity.site.declined.share')).toBe('svc_velocity_site_declined_share_ratio');
  expect(prometheusName('svc.page.csp-reports')).toBe('svc_page_csp_reports_total');
  expect(new Set(NAMES.map(prometheusName)).size).toBe(NAMES.length);
  expect(relabelRules()).toContainEqual({
    source_labels: ['__name__'],
    regex: 'svc_relay_age(_bucket|_sum|_count)?',
    target_label: '__name__',
    replacement: 'svc_relay_age_seconds${1}',
  });
});
