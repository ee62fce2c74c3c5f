import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { IHTTPRoute } from '@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1';
import { pathPattern, ROUTES } from '@svc/contracts';
import type { IDeployment } from 'kubernetes-models/apps/v1';
import type { INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { parse, stringify } from 'yaml';
import { DEPLOYED_APPS } from './apps.ts';
import { readKubernetes, type RenderedObject } from './checks/deployed.ts';
import { findRenderers, render } from './checks/render.ts';
import { generateFiles } from './generate.ts';

const root = join(import.meta.dirname, '..');
const renderers = findRenderers();
const FOLDERS = [
  ...['gateway', 'migrations', 'platform'].map((part) => `deploy/overlays/production/${part}`),
  'deploy/overlays/example/platform',
  ...['cloudnative-pg', 'rabbitmq', 'prometheus'].map((operator) => `deploy/operators/${operator}`),
];
const rendered = new Map(FOLDERS.map((folder) => [folder, render(renderers[0]!, folder)]));
const findRendered = (folder: string): RenderedObject[] => rendered.get(`deploy/${folder}`)!;
const migrations = findRendered('overlays/production/migrations');
/** The production overlay with the apps of the demonstration. */
const platform = findRendered('overlays/example/platform');
const objectsOfKind = <T>(objects: readonly RenderedObject[], kind: string): T[] =>
  objects.filter((object) => object.kind === kind) as unknown as T[];

test.each([...generateFiles()])('%s is up to date with deploy/generate.ts', (path, content) => {
  expect(readFileSync(join(root, path), 'utf8')).toBe(content);
});

// Without a second program, Jest would refuse a table without rows.
const otherRenderers = renderers.length > 1 ? renderers.slice(1) : renderers;
test.each(otherRenderers)('$name renders the same objects as the other program', (renderer) => {
  for (const [folder, objects] of rendered) expect([folder, render(renderer, folder)]).toEqual([folder, objects]);
});

test('all objects match the schemas of Kubernetes, the Gateway API and the operators', () => {
  const objects = [...rendered.values()].flat();
  expect(validate(objects)).toEqual({ status: 0, output: `${objects.length} objects are valid` });
});

test.each(['gateway', 'migrations'])('the example has the same %s as the production overlay', (part) => {
  const kustomization = readFileSync(join(root, `deploy/overlays/example/${part}/kustomization.yaml`), 'utf8');
  expect((parse(kustomization) as { resources: string[] }).resources).toEqual([`../../production/${part}`]);
});

test('validate.ts reports each invalid object, and each object without a known schema', () => {
  const [deployment] = objectsOfKind<IDeployment>(platform, 'Deployment');
  const invalidDeployment = structuredClone(deployment)!;
  invalidDeployment.spec!.template.spec!.containers[0]!.ports = [{ containerPort: 'eighty' as unknown as number }];
  const unknownObject = { apiVersion: 'example/v1', kind: 'Mystery', metadata: { name: 'x' } };
  // The schemas of some operators are in no package. validate.ts lists their fields.
  const [broker] = objectsOfKind<{ spec: object }>(findRendered('operators/rabbitmq'), 'RabbitmqCluster');
  const unknownField = { ...broker, spec: { ...broker!.spec, replica: 3 } };
  const wrongType = { ...broker, spec: { replicas: '3' } };
  const { status, output } = validate([invalidDeployment, unknownObject, unknownField, wrongType]);
  expect(status).toBe(1);
  expect(output.split('\n')).toEqual([
    expect.stringMatching(/^Deployment code-decoder: .*containerPort/),
    'Mystery x: no schema is known for Mystery of example/v1',
    'RabbitmqCluster svc-rabbitmq: spec.replica is not a known field',
    'RabbitmqCluster svc-rabbitmq: spec.replicas must be a number',
  ]);
});

test('every object is in the namespace svc-payments, which enforces the restricted profile', () => {
  const [namespace] = objectsOfKind<{ metadata: { labels: object } }>(migrations, 'Namespace');
  expect(namespace?.metadata.labels).toMatchObject({ 'pod-security.kubernetes.io/enforce': 'restricted' });
  const namespacedObjects = [...migrations, ...platform].filter(({ kind }) => kind !== 'Namespace');
  expect(new Set(namespacedObjects.map(({ metadata }) => metadata.namespace))).toEqual(new Set(['svc-payments']));
});

test('the HTTPRoutes match the route table, and each host has its Gateway', () => {
  const routes = objectsOfKind<IHTTPRoute>(platform, 'HTTPRoute').flatMap(({ metadata, spec }) =>
    (spec?.rules ?? []).flatMap(({ matches, backendRefs }) =>
      (matches ?? []).map(({ path, method }) => ({
        host: metadata?.name?.replace('svc-', ''),
        path: path?.value,
        ...(method === undefined ? {} : { method }),
        app: backendRefs?.[0]?.name,
      })),
    ),
  );
  const compareByText = (first: object, second: object): number =>
    JSON.stringify(first).localeCompare(JSON.stringify(second));
  const expectedRoutes = ROUTES.map((route) => ({ ...route, path: pathPattern(route.path) ?? route.path }));
  expect(routes.toSorted(compareByText)).toEqual(expectedRoutes.toSorted(compareByText));
  const gateways = objectsOfKind<IHTTPRoute>(platform, 'HTTPRoute').map(
    ({ metadata, spec }) => `${metadata?.name} ${spec?.parentRefs?.[0]?.name}`,
  );
  expect(gateways.sort()).toEqual([
    'svc-admin internal',
    'svc-api public',
    'svc-console public',
    'svc-gateway public',
    'svc-shop public',
  ]);
});

test.each([
  ['a payment', 'payment-processor', '30s'],
  ['the event stream of a payment page', 'hosted-gateway', '0s'],
  ['the event stream of a site', 'merchant-retrieval', '0s'],
  ['the event stream of an open list', 'console', '0s'],
])('for %s, every route to %s has the timeout %s (0s is no timeout)', (_, app, timeout) => {
  const rules = objectsOfKind<IHTTPRoute>(platform, 'HTTPRoute').flatMap(({ spec }) => spec?.rules ?? []);
  const rulesOfApp = rules.filter(({ backendRefs }) => backendRefs?.[0]?.name === app);
  expect(new Set(rulesOfApp.map(({ timeouts }) => timeouts?.request))).toEqual(new Set([timeout]));
});

test.each([
  { route: 'svc-gateway', variable: 'SVC_GATEWAY_URL', app: 'hosted-gateway' },
  { route: 'svc-gateway', variable: 'SVC_GATEWAY_URL', app: 'demo-shop' },
  { route: 'svc-shop', variable: 'SVC_SHOP_URL', app: 'demo-shop' },
])('the HTTPRoute $route has the host of $variable of $app', ({ route, variable, app }) => {
  const { spec } = objectsOfKind<IHTTPRoute>(platform, 'HTTPRoute').find(({ metadata }) => metadata?.name === route)!;
  const { env } = readKubernetes(platform).apps.find(({ name }) => name === app)!;
  expect(spec?.hostnames).toEqual([new URL(env[variable]!).host]);
});

test('a stopping pod waits until the Gateway sends no more requests, and then has time to finish its work', () => {
  const deployments = objectsOfKind<IDeployment>(platform, 'Deployment');
  expect(deployments).toHaveLength(DEPLOYED_APPS.length);
  for (const { spec } of deployments) {
    const pod = spec?.template.spec;
    const preStopSeconds = pod?.containers[0]?.lifecycle?.preStop?.sleep?.seconds ?? 0;
    expect(preStopSeconds).toBeGreaterThanOrEqual(5);
    // One after the other: requests 10 s, notifications up to 12 s (SVC_DELIVERY_DRAIN_MS), the acquirer's response 9
    // s.
    expect((pod?.terminationGracePeriodSeconds ?? 0) - preStopSeconds).toBeGreaterThanOrEqual(10 + 12 + 9);
  }
});

test('each connection between apps is allowed in the policies of both apps, and no other connection is allowed', () => {
  const policies = objectsOfKind<INetworkPolicy>(platform, 'NetworkPolicy');
  const listConnections = (direction: 'ingress' | 'egress') =>
    policies.flatMap(({ spec }) =>
      (direction === 'ingress'
        ? (spec?.ingress ?? []).flatMap(({ from }) => from ?? [])
        : (spec?.egress ?? []).flatMap(({ to }) => to ?? [])
      )
        .flatMap(({ podSelector }) => podSelector?.matchLabels?.['app.kubernetes.io/name'] ?? [])
        .map((peer) => [peer, spec?.podSelector?.matchLabels?.['app.kubernetes.io/name']])
        .map(([peer, app]) => (direction === 'ingress' ? `${peer} → ${app}` : `${app} → ${peer}`)),
    );
  expect(listConnections('egress').sort()).toEqual(listConnections('ingress').sort());
  expect(listConnections('egress').sort()).toEqual(['payment-processor → simulated-acquirer']);
  const names = objectsOfKind<IDeployment>(platform, 'Deployment').map(({ metadata }) => metadata?.name);
  expect(policies.map(({ metadata }) => metadata?.name)).toEqual(expect.arrayContaining(names));
});

function validate(objects: readonly object[]): { status: number | null; output: string } {
  const input = objects.map((object) => stringify(object, { aliasDuplicateObjects: false })).join('---\n');
  const run = spawnSync(process.execPath, [join(root, 'deploy/checks/validate.ts')], { input, encoding: 'utf8' });
  return { status: run.status, output: (run.status === 0 ? run.stdout : run.stderr).trim() };
}
