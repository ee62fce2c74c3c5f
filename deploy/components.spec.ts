/** Renders the base with combinations of components: each component with and without each other one. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { IDeployment } from 'kubernetes-models/apps/v1';
import type { IJob } from 'kubernetes-models/batch/v1';
import { stringify } from 'yaml';
import type { RenderedObject } from './checks/deployed.ts';
import { findRenderers, renderComponents } from './checks/render.ts';

/** kubectl is faster than the program of the npm package. */
const renderer = findRenderers().at(-1)!;
const COMPONENTS = ['trusted-proxies', 'telemetry', 'keda', 'node-local-dns', 'private-ca', 'mail'].map(
  (name) => `components/${name}`,
);
const ACQUIRERS = [['adyen'], ['components/adyen-host-names'], ['demo'], ['adyen', 'demo']];
/** A bit for each of the components. With their complements, each pair of components occurs in all four combinations. */
const PATTERNS = [0b000000, 0b000111, 0b101010, 0b110011];
const ALL = 0b111111;

interface Combination {
  readonly components: readonly string[];
  readonly objects: readonly RenderedObject[];
}

const selected = PATTERNS.flatMap((pattern, index) =>
  [pattern, pattern ^ ALL].map((bits) => [
    ...ACQUIRERS[index]!,
    ...COMPONENTS.filter((_, position) => (bits & (1 << position)) !== 0),
  ]),
);
const MIGRATIONS = [
  'components/private-ca',
  'components/node-local-dns',
  'components/external-secrets',
  'components/external-secrets-adyen',
];
let combinations: Combination[];
let migrations: Combination;

beforeAll(async () => {
  const renderAll = (base: string, lists: readonly (readonly string[])[]): Promise<Combination[]> =>
    Promise.all(
      lists.map(async (components) => ({ components, objects: await renderComponents(renderer, base, components) })),
    );
  combinations = await renderAll('base', selected);
  migrations = (await renderAll('migrations', [MIGRATIONS]))[0]!;
});

test('each pair of components is rendered together, apart and alone', () => {
  for (const first of COMPONENTS)
    for (const second of COMPONENTS.filter((name) => name !== first)) {
      const seen = selected.map((list) => `${list.includes(first)} ${list.includes(second)}`);
      expect(new Set(seen)).toEqual(new Set(['true true', 'true false', 'false true', 'false false']));
    }
});

test('all objects of all combinations match the schemas of Kubernetes and of the operators', () => {
  const texts = [...combinations, migrations].flatMap(({ objects }) =>
    objects.map((object) => stringify(object, { aliasDuplicateObjects: false })),
  );
  const different = [...new Set(texts)];
  const run = spawnSync(process.execPath, [join(import.meta.dirname, 'checks/validate.ts')], {
    input: different.join('---\n'),
    encoding: 'utf8',
  });
  expect(run.stderr).toBe('');
  expect(run.stdout).toBe(`${different.length} objects are valid\n`);
});

test('each component changes all pods that it is for, and no others', () => {
  for (const { components, objects } of combinations) {
    const has = (name: string): boolean => components.includes(`components/${name}`);
    for (const deployment of objects as unknown as IDeployment[]) {
      if (deployment.kind !== 'Deployment') continue;
      const isDemo = deployment.metadata?.labels?.['app.kubernetes.io/component'] === 'demo';
      const pod = deployment.spec!.template.spec!;
      const variables = pod.containers[0]!.env!.map(({ name }) => name);
      expect({
        app: deployment.metadata?.name,
        telemetry: variables.includes('OTEL_EXPORTER_OTLP_ENDPOINT'),
        trustedProxies: variables.includes('SVC_TRUSTED_PROXIES'),
        privateCa: variables.includes('NODE_EXTRA_CA_CERTS'),
        mail: ['SVC_SMTP_URL', 'SVC_MAIL_FROM'].every((name) => variables.includes(name)),
        privateCaVolume: pod.volumes!.some(({ name }) => name === 'private-ca'),
      }).toEqual({
        app: deployment.metadata?.name,
        telemetry: has('telemetry'),
        trustedProxies: has('trusted-proxies') && !isDemo,
        privateCa: has('private-ca'),
        mail: has('mail') && ['hosted-gateway', 'identity', 'console'].includes(deployment.metadata!.name!),
        privateCaVolume: has('private-ca'),
      });
    }
    const namesOf = (kind: string): string[] =>
      objects.filter((object) => object.kind === kind).map(({ metadata }) => metadata.name);
    expect(namesOf('ScaledObject').toSorted()).toEqual(has('keda') ? ['payment-processor', 'webhook-dispatcher'] : []);
    expect(namesOf('HorizontalPodAutoscaler').includes('payment-processor')).toBe(!has('keda'));
    expect(namesOf('NetworkPolicy').includes('allow-node-local-dns')).toBe(has('node-local-dns'));
    expect(namesOf('CiliumNetworkPolicy')).toHaveLength(has('adyen-host-names') ? 1 : 0);
    expect(namesOf('NetworkPolicy').includes('payment-processor-to-adyen')).toBe(components.includes('adyen'));
  }
});

test('KEDA scales by the oldest due webhook and by waiting charges, and continues without Prometheus', () => {
  const { objects } = combinations.find(({ components }) => components.includes('components/keda'))!;
  const scaling = (objects as unknown as { kind: string; spec: Record<string, unknown> }[])
    .filter(({ kind }) => kind === 'ScaledObject')
    .map(({ spec }) => [spec['triggers'], spec['fallback'], spec['minReplicaCount'], spec['maxReplicaCount']]);
  const trigger = (query: string, threshold: string) => [
    {
      type: 'prometheus',
      metricType: 'AverageValue',
      metadata: { serverAddress: 'http://prometheus-operated.monitoring.svc:9090', query, threshold },
    },
  ];
  expect(scaling).toEqual([
    [trigger('sum(svc_acquirer_permits_waiting)', '20'), { failureThreshold: 4, replicas: 3 }, 2, 6],
    [trigger('max(svc_webhook_due_age_seconds)', '10'), { failureThreshold: 4, replicas: 3 }, 2, 6],
  ]);
});

test('all containers of the migrations trust the private authority, and each Secret comes from the store', () => {
  const job = migrations.objects.find(({ kind }) => kind === 'Job') as unknown as IJob;
  const pod = job.spec!.template.spec!;
  expect(pod.containers).toHaveLength(8);
  for (const { env, volumeMounts } of pod.containers) {
    expect(env).toContainEqual({ name: 'NODE_EXTRA_CA_CERTS', value: '/etc/svc/private-ca/ca.crt' });
    expect(volumeMounts).toContainEqual({ name: 'private-ca', mountPath: '/etc/svc/private-ca', readOnly: true });
  }
  expect(pod.volumes).toContainEqual({ name: 'private-ca', configMap: { name: 'private-ca' } });

  const fromStore = migrations.objects
    .filter(({ kind }) => kind === 'ExternalSecret')
    .map(({ metadata }) => metadata.name);
  const { objects } = combinations[0]!;
  const references = JSON.stringify([objects, job]).matchAll(/"secret(?:KeyRef|Ref)":\{[^}]*"name":"([^"]+)"/g);
  expect(fromStore.toSorted()).toEqual([...new Set([...references].map(([, name]) => name))].toSorted());
});
