/** KEDA scales the apps whose load the CPU does not show (components/keda). */
import type { IScaledObject } from '@kubernetes-models/keda/keda.sh/v1alpha1';
import { createLabels, type DeployedApp, type LoadScaling } from '../apps.ts';

/** Address of Prometheus. An overlay patches it. */
const PROMETHEUS = 'http://prometheus-operated.monitoring.svc:9090';

/** Scales each app with {@link DeployedApp.scaling}. */
export function createScaledObjects(apps: readonly DeployedApp[]): IScaledObject[] {
  return apps.flatMap((app) => (app.scaling === undefined ? [] : [createScaledObject(app, app.scaling)]));
}

function createScaledObject(
  { name, component, replicas }: DeployedApp,
  { query, perReplica, maxReplicas }: LoadScaling,
): IScaledObject {
  const minReplicas = typeof replicas === 'number' ? replicas : replicas.min;
  return {
    apiVersion: 'keda.sh/v1alpha1',
    kind: 'ScaledObject',
    metadata: { name, labels: createLabels(name, component) },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
      pollingInterval: 15,
      minReplicaCount: minReplicas,
      maxReplicaCount: maxReplicas,
      // Without Prometheus the load is unknown, so the app runs with half of its replicas or more.
      fallback: { failureThreshold: 4, replicas: Math.max(minReplicas, Math.ceil(maxReplicas / 2)) },
      advanced: {
        horizontalPodAutoscalerConfig: {
          behavior: {
            scaleDown: { stabilizationWindowSeconds: 300, policies: [{ type: 'Pods', value: 1, periodSeconds: 60 }] },
          },
        },
      },
      triggers: [
        {
          type: 'prometheus',
          metricType: 'AverageValue',
          metadata: { serverAddress: PROMETHEUS, query, threshold: String(perReplica) },
        },
      ],
    },
  };
}

/** Apps that have an autoscaler by CPU in the base. Two autoscalers of one app would contradict each other. */
export function findReplacedAutoscalers(apps: readonly DeployedApp[]): string[] {
  return apps
    .filter(({ scaling, replicas }) => scaling !== undefined && typeof replicas !== 'number')
    .map(({ name }) => name);
}
