/** Prometheus reads the metrics of PostgreSQL, PgBouncer and RabbitMQ (operators/prometheus). The apps send theirs by OTLP. */
import type { IPodMonitor, IServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';
import { createLabels } from '../apps.ts';

const COMPONENT = 'monitoring';

/** Labels by which the operators mark their pods and Services, with the name of the cluster as the value. */
const DATABASE_PODS = { 'svc-postgres': 'cnpg.io/cluster', 'svc-postgres-pooler': 'cnpg.io/poolerName' } as const;
const BROKER = 'svc-rabbitmq';

export function createMonitors(): (IPodMonitor | IServiceMonitor)[] {
  const podMonitors = Object.entries(DATABASE_PODS).map(([name, label]): IPodMonitor => ({
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PodMonitor',
    metadata: { name, namespace: 'svc-database', labels: createLabels(name, COMPONENT) },
    spec: {
      selector: { matchLabels: { [label]: name } },
      podMetricsEndpoints: [{ port: 'metrics', interval: '30s' }],
    },
  }));
  const brokerMonitor: IServiceMonitor = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'ServiceMonitor',
    metadata: { name: BROKER, namespace: 'svc-broker', labels: createLabels(BROKER, COMPONENT) },
    spec: {
      selector: { matchLabels: { 'app.kubernetes.io/name': BROKER, 'app.kubernetes.io/component': 'rabbitmq' } },
      endpoints: [
        {
          port: 'prometheus-tls',
          scheme: 'https',
          interval: '30s',
          // The certificate contains the names of the Services, not the addresses of the pods.
          tlsConfig: { insecureSkipVerify: true },
        },
      ],
    },
  };
  return [...podMonitors, brokerMonitor];
}
