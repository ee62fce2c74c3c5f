/** Tests of what the manifests do in a cluster: limits, failures, rollouts and connections. */
import type { ICluster, IPooler } from '@kubernetes-models/cloudnative-pg/postgresql.cnpg.io/v1';
import type { IGateway, IHTTPRoute } from '@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1';
import { MIGRATION_LIMITS_MS } from '@svc/persistence';
import { ServiceConfig } from '@svc/service';
import type { IDeployment } from 'kubernetes-models/apps/v1';
import type { IHorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import type { IJob } from 'kubernetes-models/batch/v1';
import type { INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import type { IPodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { DEPLOYED_APPS } from './apps.ts';
import type { RenderedObject } from './checks/deployed.ts';
import { findRenderers, render } from './checks/render.ts';
import { readMeasuredMemory } from './figures.ts';

/** kubectl is faster than the program of the npm package. */
const renderer = findRenderers().at(-1)!;
const renderFolder = (folder: string): RenderedObject[] => render(renderer, `deploy/${folder}`);
const production = renderFolder('overlays/production/platform');
/** The production overlay with the apps of the demonstration. */
const platform = renderFolder('overlays/example/platform');
const gateway = renderFolder('overlays/production/gateway');
const migrations = renderFolder('overlays/production/migrations');
const database = renderFolder('operators/cloudnative-pg');
const objectsOfKind = <T>(objects: readonly RenderedObject[], kind: string): T[] =>
  objects.filter((object) => object.kind === kind) as unknown as T[];

test('the production overlay contains nothing of the demonstration, and Adyen is the acquirer', () => {
  const text = JSON.stringify(production);
  for (const demo of ['simulated-acquirer', 'demo-shop', 'shop.', 'SVC_ACQUIRER_URL']) expect(text).not.toContain(demo);
  const [processor] = objectsOfKind<IDeployment>(production, 'Deployment').filter(
    ({ metadata }) => metadata?.name === 'payment-processor',
  );
  expect(processor?.spec?.template.spec?.containers[0]?.envFrom).toEqual([
    { secretRef: { name: 'payment-processor-adyen', optional: true } },
  ]);
  const destinations = objectsOfKind<INetworkPolicy>(production, 'NetworkPolicy')
    .filter(({ spec }) => spec?.podSelector?.matchLabels?.['app.kubernetes.io/name'] === 'payment-processor')
    .flatMap(({ spec }) => (spec?.egress ?? []).flatMap(({ to }) => to ?? []))
    .map(({ namespaceSelector, ipBlock }) => ipBlock?.cidr ?? Object.keys(namespaceSelector!.matchLabels!)[0]);
  expect(destinations).toEqual(['svc-payments/postgresql', 'svc-payments/rabbitmq', '0.0.0.0/0']);
});

test('no policy has an empty list, which the API server would remove, so a comparison with the cluster shows no difference', () => {
  const objects = [...migrations, ...platform, ...production];
  expect(objects.filter((object) => /"(ingress|egress)":\[\]/.test(JSON.stringify(object)))).toEqual([]);
  const [acquirer] = objectsOfKind<INetworkPolicy>(platform, 'NetworkPolicy').filter(
    ({ metadata }) => metadata?.name === 'simulated-acquirer',
  );
  // Without rules, but with the type, all outgoing connections are refused.
  expect(acquirer?.spec).toEqual({
    podSelector: { matchLabels: { 'app.kubernetes.io/name': 'simulated-acquirer' } },
    policyTypes: ['Ingress', 'Egress'],
    ingress: [
      {
        from: [{ podSelector: { matchLabels: { 'app.kubernetes.io/name': 'payment-processor' } } }],
        ports: [{ protocol: 'TCP', port: 8080 }],
      },
    ],
  });
});

test('the Gateways are in a namespace that no policy closes, and only the platform attaches routes to them', () => {
  const [namespace] = objectsOfKind<{ metadata: object }>(gateway, 'Namespace');
  expect(namespace!.metadata).toEqual({ name: 'svc-gateway', labels: { 'svc-payments/gateway': 'true' } });
  expect(objectsOfKind(gateway, 'NetworkPolicy')).toEqual([]);
  const gateways = objectsOfKind<IGateway>(gateway, 'Gateway');
  expect(gateways).toHaveLength(2);
  for (const { metadata, spec } of gateways) {
    expect(metadata?.namespace).toBe('svc-gateway');
    for (const { allowedRoutes } of spec.listeners)
      expect(allowedRoutes).toEqual({
        namespaces: { from: 'Selector', selector: { matchLabels: { 'kubernetes.io/metadata.name': 'svc-payments' } } },
      });
  }
  const parents = objectsOfKind<IHTTPRoute>(platform, 'HTTPRoute').flatMap(({ spec }) => spec?.parentRefs ?? []);
  expect(new Set(parents.map((parent) => parent.namespace))).toEqual(new Set(['svc-gateway']));
});

test('the heap of each app is smaller than its memory limit, and the measured peak too', () => {
  const { peakMi } = readMeasuredMemory();
  const apps = objectsOfKind<IDeployment>(platform, 'Deployment').map(({ spec }) => spec!.template.spec!);
  const [job] = objectsOfKind<IJob>(migrations, 'Job');
  const pods = [...apps, job!.spec!.template.spec!];
  for (const container of pods.flatMap(({ containers, initContainers = [] }) => [...containers, ...initContainers])) {
    const limitMi = Number(/^(\d+)Mi$/.exec(String(container.resources!.limits!['memory']))![1]);
    const options = container.env!.find(({ name }) => name === 'NODE_OPTIONS')!.value;
    const heapMi = Number(/^--max-old-space-size=(\d+)$/.exec(options!)![1]);
    expect(limitMi - heapMi).toBeGreaterThanOrEqual(160);
    expect(heapMi).toBeGreaterThanOrEqual(64);
    const measuredMi = container.args === undefined ? peakMi[container.name] : 0;
    expect([container.name, measuredMi! <= 0.85 * limitMi]).toEqual([container.name, true]);
  }
});

test('a failed migration keeps its pod and its reason, and each statement ends before the deadline of the Job', () => {
  const [job] = objectsOfKind<IJob>(migrations, 'Job');
  const { activeDeadlineSeconds, backoffLimit, template } = job!.spec!;
  expect(template.spec!.restartPolicy).toBe('Never');
  for (const { terminationMessagePolicy } of template.spec!.containers)
    expect(terminationMessagePolicy).toBe('FallbackToLogsOnError');
  const deadlineMs = activeDeadlineSeconds! * 1_000;
  expect(deadlineMs).toBeGreaterThan(MIGRATION_LIMITS_MS.statement_timeout + 60_000);
  // Kubernetes doubles the pause before each retry: 10 s, 20 s, … All retries after lock timeouts fit into the deadline.
  const pausesMs = 10_000 * (2 ** backoffLimit! - 1);
  expect(pausesMs + (backoffLimit! + 1) * MIGRATION_LIMITS_MS.lock_timeout).toBeLessThan(deadlineMs);
});

test('a pod that is not ready does not block the maintenance of its node', () => {
  const budgets = objectsOfKind<IPodDisruptionBudget>(platform, 'PodDisruptionBudget');
  expect(budgets).toHaveLength(8);
  for (const { spec } of budgets)
    expect(spec).toMatchObject({ maxUnavailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow' });
});

test('the autoscalers add a replica when the processor of a replica is busy half of the time, and remove replicas slowly', () => {
  const autoscalers = objectsOfKind<IHorizontalPodAutoscaler>(platform, 'HorizontalPodAutoscaler');
  expect(autoscalers.map(({ metadata }) => metadata?.name).toSorted()).toEqual([
    'code-decoder',
    'console',
    'hosted-gateway',
    'merchant-retrieval',
    'payment-history',
    'payment-processor',
  ]);
  for (const { spec } of autoscalers)
    expect(spec).toMatchObject({
      metrics: [
        { type: 'Resource', resource: { name: 'cpu', target: { type: 'AverageValue', averageValue: '500m' } } },
      ],
      behavior: {
        scaleDown: { stabilizationWindowSeconds: 300, policies: [{ type: 'Pods', value: 1, periodSeconds: 60 }] },
      },
    });
});

test('PostgreSQL and its pooler accept the connections of all apps, with the replica that a rollout adds', () => {
  const autoscalers = objectsOfKind<IHorizontalPodAutoscaler>(production, 'HorizontalPodAutoscaler');
  const { SVC_DATABASE_POOL_MAX: poolSize } = new ServiceConfig();
  const connections = objectsOfKind<IDeployment>(production, 'Deployment').map(({ metadata, spec }) => {
    const byCpu = autoscalers.find((autoscaler) => autoscaler.metadata?.name === metadata?.name)?.spec?.maxReplicas;
    const byLoad = DEPLOYED_APPS.find(({ name }) => name === metadata?.name)?.scaling?.maxReplicas;
    const surge = spec?.strategy?.rollingUpdate?.maxSurge as number;
    // One more connection for notifications, and one for readiness checks.
    return (Math.max(spec?.replicas ?? 0, byCpu ?? 0, byLoad ?? 0) + surge) * (poolSize + 2);
  });
  const sum = connections.reduce((total, count) => total + count, 0);
  const [cluster] = objectsOfKind<ICluster>(database, 'Cluster');
  expect(cluster?.spec.postgresql?.parameters).toEqual({ max_connections: String(sum + 60) });
  const [pooler] = objectsOfKind<IPooler>(database, 'Pooler');
  expect(pooler?.spec.pgbouncer).toEqual({
    poolMode: 'session',
    parameters: {
      max_client_conn: String(sum),
      default_pool_size: String(Math.max(...connections)),
      ignore_startup_parameters: 'statement_timeout,lock_timeout,idle_in_transaction_session_timeout',
    },
  });
});
