import { observationVariables } from '../processes/observed-apps.ts';
import { planPorts, SERVICES, type Settings } from '../settings/settings.ts';
import { createPrometheusConfig } from './prometheus.ts';

const ports = planPorts('7300');
const settings: Settings = {
  root: '/root',
  dataDir: '/data',
  ports,
  acquirer: 'simulated',
  externalAmqpUrl: undefined,
  externalManagementUrl: undefined,
  tradesWeek: false,
  ownDatabases: [],
  forwarded: {},
};

interface Config {
  readonly rule_files: readonly string[];
  readonly scrape_configs: readonly { readonly job_name: string; readonly static_configs: readonly object[] }[];
}

test('of a platform in one process, Prometheus reads that process', () => {
  const { scrape_configs: jobs, rule_files: rules } = createPrometheusConfig(settings, 'embedded') as Config;
  expect(jobs.map(({ job_name: name, static_configs: targets }) => [name, targets])).toEqual([
    ['all-in-one', [{ targets: ['127.0.0.1:7330'] }]],
  ]);
  expect(rules).toEqual([
    '/root/deploy/observability/prometheus/alarms.rules.yaml',
    '/root/deploy/observability/prometheus/slos.rules.yaml',
  ]);
});

test('of a distributed platform, Prometheus reads each service and the reverse proxy, each at its own port', () => {
  const { scrape_configs: jobs } = createPrometheusConfig(settings, 'distributed') as Config;
  expect(jobs.map(({ job_name: name }) => name)).toEqual([...SERVICES, 'front']);
  const targets = jobs.map(({ static_configs: [target] }) => JSON.stringify(target));
  expect(new Set(targets).size).toBe(jobs.length);
  const used = [ports.prometheus, ports.postgres, ports.rabbitMq, ...Object.values(ports.services)].map(String);
  const metricPorts = [...SERVICES, 'front' as const, 'all-in-one' as const].map(
    (app) => observationVariables(ports, app)['OTEL_EXPORTER_PROMETHEUS_PORT']!,
  );
  expect(metricPorts.filter((port) => used.includes(port))).toEqual([]);
});
