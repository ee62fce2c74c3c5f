import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { IHTTPRoute } from '@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1';
import { pathPattern, ROUTES } from '@svc/contracts';
import type { IDeployment } from 'kubernetes-models/apps/v1';
import type { INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { stringify } from 'yaml';
import { DEPLOYED_APPS } from './apps.ts';
import { type AnyObject, kubernetesFacts } from './checks/deployed.ts';
import { findRenderers, render } from './checks/render.ts';
import { generatedFiles } from './generate.ts';

const root = join(import.meta.dirname, '..');
const renderers = findRenderers();
const OVERLAYS = ['deploy/overlays/example/migrations', 'deploy/overlays/example/platform'];
const [migrations = [], platform = []] = OVERLAYS.map((overlay) => render(renderers[0]!, overlay));
const all = <T>(objects: readonly AnyObject[], kind: string): T[] =>
  objects.filter((object) => object.kind === kind) as unknown as T[];

test.each([...generatedFiles()])('%s is up to date with deploy/generate.ts', (path, content) => {
  expect(readFileSync(join(root, path), 'utf8')).toBe(content);
});

describe.each(OVERLAYS)('%s', (overlay) => {
  test.each(renderers)('$name renders the same as any other', (renderer) => {
    expect(render(renderer, overlay)).toEqual(render(renderers[0]!, overlay));
  });

  test('the objects match the schemas of Kubernetes and the Gateway API', () => {
    const objects = render(renderers[0]!, overlay);
    expect(validate(objects)).toEqual({ status: 0, said: `${objects.length} objects are valid` });
  });
});

test('an object with an invalid or unknown schema is reported', () => {
  const [deployment] = all<IDeployment>(platform, 'Deployment');
  const broken = structuredClone(deployment)!;
  broken.spec!.template.spec!.containers[0]!.ports = [{ containerPort: 'eighty' as unknown as number }];
  expect(validate([broken])).toEqual({
    status: 1,
    said: expect.stringMatching(/^Deployment code-decoder: .*containerPort/s),
  });
  const unknown = { apiVersion: 'example/v1', kind: 'Mystery', metadata: { name: 'x' } };
  expect(validate([unknown])).toEqual({ status: 1, said: expect.stringContaining('no schema is known') });
});

test('every object is in the namespace, which enforces the restricted profile', () => {
  const [namespace] = all<{ metadata: { labels: object } }>(migrations, 'Namespace');
  expect(namespace?.metadata.labels).toMatchObject({ 'pod-security.kubernetes.io/enforce': 'restricted' });
  const inside = [...migrations, ...platform].filter(({ kind }) => kind !== 'Namespace');
  expect(new Set(inside.map(({ metadata }) => metadata.namespace))).toEqual(new Set(['svc-payments']));
});

test('the routes match the table, each host on its Gateway', () => {
  const routes = all<IHTTPRoute>(platform, 'HTTPRoute').flatMap(({ metadata, spec }) =>
    (spec?.rules ?? []).flatMap(({ matches, backendRefs }) =>
      (matches ?? []).map(({ path, method }) => ({
        host: metadata?.name?.replace('svc-', ''),
        path: path?.value,
        ...(method === undefined ? {} : { method }),
        app: backendRefs?.[0]?.name,
      })),
    ),
  );
  const byText = (one: object, other: object): number => JSON.stringify(one).localeCompare(JSON.stringify(other));
  const table = ROUTES.map((route) => ({ ...route, path: pathPattern(route.path) ?? route.path }));
  expect(routes.toSorted(byText)).toEqual(table.toSorted(byText));
  const gateways = all<IHTTPRoute>(platform, 'HTTPRoute').map(
    ({ metadata, spec }) => `${metadata?.name} ${spec?.parentRefs?.[0]?.name}`,
  );
  expect(gateways.sort()).toEqual(['svc-admin internal', 'svc-api public', 'svc-gateway public', 'svc-shop public']);
});

test.each([
  ['a payment', 'payment-processor', '30s'],
  ['the stream of a page', 'hosted-gateway', '0s'],
  ['the stream of a site', 'merchant-retrieval', '0s'],
])('no Gateway cuts %s: %s has a timeout of %s, on every host', (_, app, timeout) => {
  const rules = all<IHTTPRoute>(platform, 'HTTPRoute').flatMap(({ spec }) => spec?.rules ?? []);
  const ofApp = rules.filter(({ backendRefs }) => backendRefs?.[0]?.name === app);
  expect(new Set(ofApp.map(({ timeouts }) => timeouts?.request))).toEqual(new Set([timeout]));
});

test.each([
  'svc-gateway SVC_GATEWAY_URL hosted-gateway',
  'svc-gateway SVC_GATEWAY_URL demo-shop',
  'svc-shop SVC_SHOP_URL demo-shop',
])('links lead to the host of the route: %s', (text) => {
  const [route, variable = '', app] = text.split(' ');
  const { spec } = all<IHTTPRoute>(platform, 'HTTPRoute').find(({ metadata }) => metadata?.name === route)!;
  const { env } = kubernetesFacts(platform).apps.find(({ name }) => name === app)!;
  expect(spec?.hostnames).toEqual([new URL(env[variable]!).host]);
});

test('a stopping pod has time to leave the Gateway, then to finish its work', () => {
  const deployments = all<IDeployment>(platform, 'Deployment');
  expect(deployments).toHaveLength(DEPLOYED_APPS.length);
  for (const { spec } of deployments) {
    const pod = spec?.template.spec;
    const leave = pod?.containers[0]?.lifecycle?.preStop?.sleep?.seconds ?? 0;
    expect(leave).toBeGreaterThanOrEqual(5);
    // Requests 10 s, notifications up to 12 s (SVC_DELIVERY_DRAIN_MS), the acquirer's answer 9 s: one after another.
    expect((pod?.terminationGracePeriodSeconds ?? 0) - leave).toBeGreaterThanOrEqual(10 + 12 + 9);
  }
});

test('each allowed connection is allowed on both sides, and no other', () => {
  const policies = all<INetworkPolicy>(platform, 'NetworkPolicy');
  const peers = (direction: 'ingress' | 'egress') =>
    policies.flatMap(({ metadata, spec }) =>
      (direction === 'ingress'
        ? (spec?.ingress ?? []).flatMap(({ from }) => from ?? [])
        : (spec?.egress ?? []).flatMap(({ to }) => to ?? [])
      )
        .flatMap(({ podSelector }) => podSelector?.matchLabels?.['app.kubernetes.io/name'] ?? [])
        .map((other) => (direction === 'ingress' ? `${other} → ${metadata?.name}` : `${metadata?.name} → ${other}`)),
    );
  expect(peers('egress').sort()).toEqual(peers('ingress').sort());
  expect(peers('egress').sort()).toEqual(['payment-processor → simulated-acquirer']);
  const names = all<IDeployment>(platform, 'Deployment').map(({ metadata }) => metadata?.name);
  expect(policies.map(({ metadata }) => metadata?.name)).toEqual(expect.arrayContaining(names));
});

function validate(objects: readonly object[]): { status: number | null; said: string } {
  const input = objects.map((object) => stringify(object, { aliasDuplicateObjects: false })).join('---\n');
  const run = spawnSync(process.execPath, [join(root, 'deploy/checks/validate.ts')], { input, encoding: 'utf8' });
  return { status: run.status, said: (run.status === 0 ? run.stdout : run.stderr).trim() };
}
