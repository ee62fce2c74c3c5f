/** Creates the Kubernetes objects of an app from its description in apps.ts. */
import type { IDeployment } from 'kubernetes-models/apps/v1';
import type { IHorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import type { INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import type { IPodDisruptionBudget } from 'kubernetes-models/policy/v1';
import type { IContainer, IService, IServiceAccount, IVolume } from 'kubernetes-models/v1';
import { createLabels, type DeployedApp, MAX_SURGE, PORT, PRE_STOP_SECONDS, SHUTDOWN_SECONDS } from './apps.ts';
import { createMigrationContainer } from './migration-job.ts';
import { createNetworkPolicy } from './network-policies.ts';
import {
  containerSecurity,
  createServiceAccount,
  heapLimit,
  imageName,
  podSecurity,
  secretVariable,
  toContainerResources,
} from './pods.ts';

export type AppObject =
  IDeployment | IService | IServiceAccount | IPodDisruptionBudget | IHorizontalPodAutoscaler | INetworkPolicy;

export function createObjects(app: DeployedApp, callers: readonly DeployedApp[]): AppObject[] {
  return [
    createServiceAccount(app.name, app.component),
    createDeployment(app),
    createService(app),
    createNetworkPolicy(app, callers),
    ...createDisruptionBudget(app),
    ...createAutoscaler(app),
  ];
}

function createDeployment(app: DeployedApp): IDeployment {
  const selector = { 'app.kubernetes.io/name': app.name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: app.name, labels: createLabels(app.name, app.component) },
    spec: {
      // With an autoscaler the manifest has no number of replicas: each `apply` would reset the number that the
      // autoscaler has set.
      ...(typeof app.replicas === 'number' ? { replicas: app.replicas } : {}),
      selector: { matchLabels: selector },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: MAX_SURGE, maxUnavailable: 0 } },
      template: {
        metadata: { labels: createLabels(app.name, app.component) },
        spec: {
          serviceAccountName: app.name,
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          securityContext: podSecurity,
          terminationGracePeriodSeconds: PRE_STOP_SECONDS + SHUTDOWN_SECONDS,
          topologySpreadConstraints: ['topology.kubernetes.io/zone', 'kubernetes.io/hostname'].map((topologyKey) => ({
            maxSkew: 1,
            topologyKey,
            whenUnsatisfiable: 'ScheduleAnyway',
            labelSelector: { matchLabels: selector },
          })),
          ...(app.component === 'demo' && app.schema !== undefined
            ? { initContainers: [createMigrationContainer(app, 'migrate')] }
            : {}),
          containers: [createContainer(app)],
          volumes: createVolumes(app),
        },
      },
    },
  };
}

function createContainer(app: DeployedApp): IContainer {
  const mounts = [
    { name: 'tmp', mountPath: '/tmp' },
    ...(app.scratchFolder === undefined ? [] : [{ name: 'scratch', mountPath: app.scratchFolder }]),
    ...(app.mountedSecret === undefined
      ? []
      : [{ name: 'files', mountPath: app.mountedSecret.folder, readOnly: true }]),
  ];
  return {
    name: app.name,
    image: imageName(app.name),
    env: [
      ...Object.entries(app.variables).map(([name, value]) => ({ name, value })),
      ...app.secrets.map((name) => secretVariable(app.name, name)),
      heapLimit(app.resources),
    ],
    ports: [{ name: 'http', containerPort: PORT }],
    startupProbe: { httpGet: { path: '/health/live', port: 'http' }, periodSeconds: 2, failureThreshold: 30 },
    livenessProbe: { httpGet: { path: '/health/live', port: 'http' }, periodSeconds: 10, timeoutSeconds: 3 },
    readinessProbe: { httpGet: { path: '/health/ready', port: 'http' }, periodSeconds: 5, timeoutSeconds: 3 },
    lifecycle: { preStop: { sleep: { seconds: PRE_STOP_SECONDS } } },
    resources: toContainerResources(app.resources),
    securityContext: containerSecurity,
    volumeMounts: mounts,
  };
}

function createVolumes(app: DeployedApp): IVolume[] {
  return [
    { name: 'tmp', emptyDir: { sizeLimit: '64Mi' } },
    ...(app.scratchFolder === undefined ? [] : [{ name: 'scratch', emptyDir: { sizeLimit: '64Mi' } }]),
    // The Secret is optional: the shop starts without its keys and reads the file as soon as it exists.
    ...(app.mountedSecret === undefined
      ? []
      : [{ name: 'files', secret: { secretName: app.mountedSecret.secret, optional: true } }]),
  ];
}

function createService({ name, component }: DeployedApp): IService {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, labels: createLabels(name, component) },
    spec: {
      selector: { 'app.kubernetes.io/name': name },
      ports: [{ name: 'http', port: PORT, targetPort: 'http', appProtocol: 'http' }],
    },
  };
}

/**
 * Only one pod may be evicted at a time. An app with one replica has no budget, because a budget would block the node's
 * maintenance.
 */
function createDisruptionBudget({ name, component, replicas }: DeployedApp): IPodDisruptionBudget[] {
  if (replicas === 1) return [];
  return [
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name, labels: createLabels(name, component) },
      spec: {
        maxUnavailable: 1,
        // A pod that is not ready serves no request. By default it would block the maintenance of its node until it is ready.
        unhealthyPodEvictionPolicy: 'AlwaysAllow',
        selector: { matchLabels: { 'app.kubernetes.io/name': name } },
      },
    },
  ];
}

/**
 * CPU of a replica above which the autoscaler adds one. A replica runs JavaScript on one processor, so it is then busy half of
 * the time. A share of the small CPU request would add replicas at a load that one replica handles easily.
 */
const CPU_TARGET = '500m';

function createAutoscaler({ name, component, replicas }: DeployedApp): IHorizontalPodAutoscaler[] {
  if (typeof replicas === 'number') return [];
  return [
    {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name, labels: createLabels(name, component) },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
        minReplicas: replicas.min,
        maxReplicas: replicas.max,
        // A replica that is removed too early is missed in the next peak, so replicas are removed one by one.
        behavior: {
          scaleDown: { stabilizationWindowSeconds: 300, policies: [{ type: 'Pods', value: 1, periodSeconds: 60 }] },
        },
        metrics: [
          { type: 'Resource', resource: { name: 'cpu', target: { type: 'AverageValue', averageValue: CPU_TARGET } } },
        ],
      },
    },
  ];
}
