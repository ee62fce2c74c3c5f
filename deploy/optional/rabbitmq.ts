/** RabbitMQ by its Cluster Operator (operators/rabbitmq). */
import type { IPodDisruptionBudget } from 'kubernetes-models/policy/v1';
import type { IResourceRequirements } from 'kubernetes-models/v1';
import { createLabels } from '../apps.ts';

const CLUSTER = 'svc-rabbitmq';

/** The fields of a RabbitmqCluster that are used here. The package with its schema is not in the registry. */
export interface RabbitmqCluster {
  readonly apiVersion: 'rabbitmq.com/v1beta1';
  readonly kind: 'RabbitmqCluster';
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec: {
    readonly replicas: number;
    readonly persistence: { readonly storage: string };
    readonly resources: IResourceRequirements;
    readonly tls: { readonly secretName: string; readonly disableNonTLSListeners: boolean };
    readonly rabbitmq: { readonly additionalConfig: string };
    readonly affinity: object;
  };
}

/** The operator refuses a longer text. */
export const MAX_ADDITIONAL_CONFIG_LENGTH = 2_000;

/** Settings of each node, for rabbitmq.conf (README.md explains them). */
const ADDITIONAL_CONFIG = `cluster_partition_handling = pause_minority
net_ticktime = 8
disk_free_limit.absolute = 2GB
`;

export function createBroker(): [RabbitmqCluster, IPodDisruptionBudget] {
  const labels = createLabels(CLUSTER, 'broker');
  // The operator gives its pods this label.
  const selector = { matchLabels: { 'app.kubernetes.io/name': CLUSTER } };
  return [
    {
      apiVersion: 'rabbitmq.com/v1beta1',
      kind: 'RabbitmqCluster',
      metadata: { name: CLUSTER, labels },
      spec: {
        replicas: 3,
        persistence: { storage: '20Gi' },
        resources: { requests: { cpu: '1', memory: '2Gi' }, limits: { memory: '2Gi' } },
        tls: { secretName: `${CLUSTER}-tls`, disableNonTLSListeners: true },
        rabbitmq: { additionalConfig: ADDITIONAL_CONFIG },
        affinity: {
          podAntiAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              { labelSelector: selector, topologyKey: 'kubernetes.io/hostname' },
            ],
          },
        },
      },
    },
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: CLUSTER, labels },
      spec: { maxUnavailable: 1, selector },
    },
  ];
}
