import { type Ports, SERVICES } from '../settings/settings.ts';

/** The programs that serve their metrics to Prometheus (`./svc up --observe`), in the order of their ports. */
export const OBSERVED_APPS = [...SERVICES, 'front', 'all-in-one'] as const;
type ObservedApp = (typeof OBSERVED_APPS)[number];

export function observedPort(ports: Ports, app: ObservedApp): number {
  return ports.firstMetrics + OBSERVED_APPS.indexOf(app);
}

/** The ports of the programs that run, by their use. */
export function observedPorts(ports: Ports, isDistributed: boolean): Record<string, number> {
  return Object.fromEntries(
    observedApps(isDistributed).map((app) => [`the metrics of ${app}`, observedPort(ports, app)]),
  );
}

export function observedApps(isDistributed: boolean): readonly ObservedApp[] {
  return isDistributed ? OBSERVED_APPS.filter((app) => app !== 'all-in-one') : ['all-in-one'];
}

/** The variables with which a program serves its metrics, and sends nothing. */
export function observationVariables(ports: Ports, app: ObservedApp): Readonly<Record<string, string>> {
  return {
    OTEL_METRICS_EXPORTER: 'prometheus',
    OTEL_EXPORTER_PROMETHEUS_HOST: '127.0.0.1',
    OTEL_EXPORTER_PROMETHEUS_PORT: String(observedPort(ports, app)),
    OTEL_TRACES_EXPORTER: 'none',
    OTEL_LOGS_EXPORTER: 'none',
    OTEL_SERVICE_NAME: app,
  };
}
