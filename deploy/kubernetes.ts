/** Creates the Kubernetes objects of an app from its description in apps.ts. */
import type { IDeployment } from 'kubernetes-models/apps/v1';
import type { IHorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import type { IJob } from 'kubernetes-models/batch/v1';
import type { INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import type { IPodDisruptionBudget } from 'kubernetes-models/policy/v1';
import type { IContainer, IPodSecurityContext, IService, IServiceAccount, IVolume } from 'kubernetes-models/v1';
import { createLabels, type DeployedApp, PORT, PRE_STOP_SECONDS, SHUTDOWN_SECONDS } from './apps.ts';
import { createNetworkPolicy } from './network-policies.ts';

export type KubernetesObject =
  IDeployment | IService | IServiceAccount | IPodDisruptionBudget | IHorizontalPodAutoscaler | INetworkPolicy | IJob;

/** User id of the image. It is not root. */
const USER_ID = 65_532;

const podSecurity: IPodSecurityContext = {
  runAsNonRoot: true,
  runAsUser: USER_ID,
  runAsGroup: USER_ID,
  fsGroup: USER_ID,
  seccompProfile: { type: 'RuntimeDefault' },
};

const containerSecurity = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};

export function createObjects(app: DeployedApp, callers: readonly DeployedApp[]): KubernetesObject[] {
  return [
    createServiceAccount(app.name, app.component),
    createDeployment(app),
    createService(app),
    createNetworkPolicy(app, callers),
    ...createDisruptionBudget(app),
    ...createAutoscaler(app),
  ];
}

function createServiceAccount(name: string, component: string): IServiceAccount {
  return {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name, labels: createLabels(name, component) },
    // No app uses the Kubernetes API.
    automountServiceAccountToken: false,
  };
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
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
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
          ...createVolumes(app),
        },
      },
    },
  };
}

function createContainer(app: DeployedApp): IContainer {
  const mounts = [
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
    ],
    ports: [{ name: 'http', containerPort: PORT }],
    startupProbe: { httpGet: { path: '/health/live', port: 'http' }, periodSeconds: 2, failureThreshold: 30 },
    livenessProbe: { httpGet: { path: '/health/live', port: 'http' }, periodSeconds: 10, timeoutSeconds: 3 },
    readinessProbe: { httpGet: { path: '/health/ready', port: 'http' }, periodSeconds: 5, timeoutSeconds: 3 },
    lifecycle: { preStop: { sleep: { seconds: PRE_STOP_SECONDS } } },
    resources: createResources(app),
    securityContext: containerSecurity,
    ...(mounts.length === 0 ? {} : { volumeMounts: mounts }),
  };
}

function createVolumes(app: DeployedApp): { volumes?: IVolume[] } {
  const volumes: IVolume[] = [
    ...(app.scratchFolder === undefined ? [] : [{ name: 'scratch', emptyDir: { sizeLimit: '64Mi' } }]),
    // The Secret is optional: the shop starts without its keys and reads the file as soon as it exists.
    ...(app.mountedSecret === undefined
      ? []
      : [{ name: 'files', secret: { secretName: app.mountedSecret.secret, optional: true } }]),
  ];
  return volumes.length === 0 ? {} : { volumes };
}

function createResources({ resources }: DeployedApp): NonNullable<IContainer['resources']> {
  const memory = `${resources.memoryMi}Mi`;
  return { requests: { cpu: `${resources.cpuMillis}m`, memory }, limits: { memory } };
}

/** Name of an app's image. An overlay replaces it by registry, repository and tag (`images`). */
export function imageName(app: string): string {
  return `svc/${app}`;
}

function secretVariable(secret: string, name: string): NonNullable<IContainer['env']>[number] {
  return { name, valueFrom: { secretKeyRef: { name: secret, key: name } } };
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
      spec: { maxUnavailable: 1, selector: { matchLabels: { 'app.kubernetes.io/name': name } } },
    },
  ];
}

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
        metrics: [
          { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } } },
        ],
      },
    },
  ];
}

/** Name of the Secret with the database URL of the schema's owner. Only migrations get it, not the app. */
export function ownerSecretName(app: string): string {
  return `${app}-owner`;
}

/**
 * A container that migrates one schema. It uses the app's image, and gets only the database URL of the schema's owner.
 */
function createMigrationContainer(app: DeployedApp, name: string): IContainer {
  return {
    name,
    image: imageName(app.name),
    args: ['migrate'],
    env: [secretVariable(ownerSecretName(app.name), 'SVC_DATABASE_URL')],
    resources: { requests: { cpu: '50m', memory: '192Mi' }, limits: { memory: '192Mi' } },
    securityContext: containerSecurity,
  };
}

/** Creates a Job with a container for each schema. The containers are independent, and each can be run again. */
export function createMigrationJob(apps: readonly DeployedApp[]): KubernetesObject[] {
  const name = 'svc-migrations';
  const labels = createLabels(name, 'migrations');
  return [
    createServiceAccount(name, 'migrations'),
    createNetworkPolicy({ name, component: 'migrations', connectsTo: ['postgresql'] }, []),
    {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name, labels },
      spec: {
        backoffLimit: 4,
        activeDeadlineSeconds: 900,
        template: {
          metadata: { labels },
          spec: {
            restartPolicy: 'OnFailure',
            serviceAccountName: name,
            automountServiceAccountToken: false,
            enableServiceLinks: false,
            securityContext: podSecurity,
            containers: apps.map((app) => createMigrationContainer(app, app.name)),
          },
        },
      },
    },
  ];
}
