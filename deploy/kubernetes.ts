/** The Kubernetes objects of one app, from its description (apps.ts). Pure. */
import type { IDeployment } from 'kubernetes-models/apps/v1';
import type { IHorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import type { IJob } from 'kubernetes-models/batch/v1';
import type { INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import type { IPodDisruptionBudget } from 'kubernetes-models/policy/v1';
import type { IContainer, IPodSecurityContext, IService, IServiceAccount, IVolume } from 'kubernetes-models/v1';
import { type DeployedApp, DRAIN_SECONDS, labelsOf, LEAVE_SECONDS, PORT } from './apps.ts';
import { networkPolicyOf } from './network-policies.ts';

export type KubernetesObject =
  IDeployment | IService | IServiceAccount | IPodDisruptionBudget | IHorizontalPodAutoscaler | INetworkPolicy | IJob;

/** The user of the image; not root. */
const USER = 65_532;

const podSecurity: IPodSecurityContext = {
  runAsNonRoot: true,
  runAsUser: USER,
  runAsGroup: USER,
  fsGroup: USER,
  seccompProfile: { type: 'RuntimeDefault' },
};

const containerSecurity = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};

export function objectsOf(app: DeployedApp, callers: readonly DeployedApp[]): KubernetesObject[] {
  return [
    serviceAccountOf(app.name, app.part),
    deploymentOf(app),
    serviceOf(app),
    networkPolicyOf(app, callers),
    ...disruptionBudgetOf(app),
    ...autoscalerOf(app),
  ];
}

function serviceAccountOf(name: string, component: string): IServiceAccount {
  return {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name, labels: labelsOf(name, component) },
    // No app uses the Kubernetes API.
    automountServiceAccountToken: false,
  };
}

function deploymentOf(app: DeployedApp): IDeployment {
  const selector = { 'app.kubernetes.io/name': app.name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: app.name, labels: labelsOf(app.name, app.part) },
    spec: {
      // The autoscaler owns the number: a manifest with one would reset it at each apply.
      ...(typeof app.replicas === 'number' ? { replicas: app.replicas } : {}),
      selector: { matchLabels: selector },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      template: {
        metadata: { labels: labelsOf(app.name, app.part) },
        spec: {
          serviceAccountName: app.name,
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          securityContext: podSecurity,
          terminationGracePeriodSeconds: LEAVE_SECONDS + DRAIN_SECONDS,
          topologySpreadConstraints: ['topology.kubernetes.io/zone', 'kubernetes.io/hostname'].map((topologyKey) => ({
            maxSkew: 1,
            topologyKey,
            whenUnsatisfiable: 'ScheduleAnyway',
            labelSelector: { matchLabels: selector },
          })),
          ...(app.part === 'demo' && app.schema !== undefined ? { initContainers: [migrationOf(app, 'migrate')] } : {}),
          containers: [containerOf(app)],
          ...volumesOf(app),
        },
      },
    },
  };
}

function containerOf(app: DeployedApp): IContainer {
  const mounts = [
    ...(app.scratch === undefined ? [] : [{ name: 'scratch', mountPath: app.scratch }]),
    ...(app.files === undefined ? [] : [{ name: 'files', mountPath: app.files.folder, readOnly: true }]),
  ];
  return {
    name: app.name,
    image: imageOf(app.name),
    env: [
      ...Object.entries(app.variables).map(([name, value]) => ({ name, value })),
      ...app.secrets.map((name) => fromSecret(app.name, name)),
    ],
    ports: [{ name: 'http', containerPort: PORT }],
    startupProbe: { httpGet: { path: '/health/live', port: 'http' }, periodSeconds: 2, failureThreshold: 30 },
    livenessProbe: { httpGet: { path: '/health/live', port: 'http' }, periodSeconds: 10, timeoutSeconds: 3 },
    readinessProbe: { httpGet: { path: '/health/ready', port: 'http' }, periodSeconds: 5, timeoutSeconds: 3 },
    lifecycle: { preStop: { sleep: { seconds: LEAVE_SECONDS } } },
    resources: resourcesOf(app),
    securityContext: containerSecurity,
    ...(mounts.length === 0 ? {} : { volumeMounts: mounts }),
  };
}

function volumesOf(app: DeployedApp): { volumes?: IVolume[] } {
  const volumes: IVolume[] = [
    ...(app.scratch === undefined ? [] : [{ name: 'scratch', emptyDir: { sizeLimit: '64Mi' } }]),
    // The shop starts without its keys and reads them when they appear.
    ...(app.files === undefined ? [] : [{ name: 'files', secret: { secretName: app.files.secret, optional: true } }]),
  ];
  return volumes.length === 0 ? {} : { volumes };
}

function resourcesOf({ resources }: DeployedApp): NonNullable<IContainer['resources']> {
  const memory = `${resources.memoryMi}Mi`;
  return { requests: { cpu: `${resources.cpuMillis}m`, memory }, limits: { memory } };
}

/** A name that an overlay replaces by registry, repository and tag (`images`). */
export function imageOf(app: string): string {
  return `svc/${app}`;
}

function fromSecret(secret: string, name: string): NonNullable<IContainer['env']>[number] {
  return { name, valueFrom: { secretKeyRef: { name: secret, key: name } } };
}

function serviceOf({ name, part }: DeployedApp): IService {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, labels: labelsOf(name, part) },
    spec: {
      selector: { 'app.kubernetes.io/name': name },
      ports: [{ name: 'http', port: PORT, targetPort: 'http', appProtocol: 'http' }],
    },
  };
}

/** One pod at a time may be evicted for maintenance; with a single replica, a budget would block the node for ever. */
function disruptionBudgetOf({ name, part, replicas }: DeployedApp): IPodDisruptionBudget[] {
  if (replicas === 1) return [];
  return [
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name, labels: labelsOf(name, part) },
      spec: { maxUnavailable: 1, selector: { matchLabels: { 'app.kubernetes.io/name': name } } },
    },
  ];
}

function autoscalerOf({ name, part, replicas }: DeployedApp): IHorizontalPodAutoscaler[] {
  if (typeof replicas === 'number') return [];
  return [
    {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name, labels: labelsOf(name, part) },
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

/** The Secret with the database URL of the schema's owner; the app itself never gets it. */
export function ownerSecretOf(app: string): string {
  return `${app}-owner`;
}

/** Migrates one schema, with the app's own image and only the database URL. */
function migrationOf(app: DeployedApp, name: string): IContainer {
  return {
    name,
    image: imageOf(app.name),
    args: ['migrate'],
    env: [fromSecret(ownerSecretOf(app.name), 'SVC_DATABASE_URL')],
    resources: { requests: { cpu: '50m', memory: '192Mi' }, limits: { memory: '192Mi' } },
    securityContext: containerSecurity,
  };
}

/** One Job with a container for each schema. They are independent, and each can be run again. */
export function migrationJob(apps: readonly DeployedApp[]): KubernetesObject[] {
  const name = 'svc-migrations';
  const labels = labelsOf(name, 'migrations');
  return [
    serviceAccountOf(name, 'migrations'),
    networkPolicyOf({ name, part: 'migrations', connectsTo: ['postgresql'] }, []),
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
            containers: apps.map((app) => migrationOf(app, app.name)),
          },
        },
      },
    },
  ];
}
