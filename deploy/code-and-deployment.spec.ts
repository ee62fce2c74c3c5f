import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { IDeployment } from 'kubernetes-models/apps/v1';
import { parse } from 'yaml';
import { readDockerfile, readExposedPort, readImageEnvironment } from '../docker/dockerfile.ts';
import { COMPOSE_SECRETS } from '../docker/secrets.ts';
import { ownerRoleOf, roleOf } from '../tools/svc/processes/env-files.ts';
import { SERVICES } from '../tools/svc/settings/settings.ts';
import { DEPLOYED_APPS } from './apps.ts';
import { readApps, readHealthPaths } from './checks/code.ts';
import { type Compose, readCompose, readKubernetes, type RenderedObject } from './checks/deployed.ts';
import { findDifferences, type Image } from './checks/differences.ts';
import { findRenderers, render } from './checks/render.ts';

const root = join(import.meta.dirname, '..');
const dockerfile = readDockerfile(join(root, 'docker/Dockerfile'));
const image: Image = { env: readImageEnvironment(dockerfile), exposedPort: readExposedPort(dockerfile) };
const composeText = readFileSync(join(root, 'docker/compose.yaml'), 'utf8');
const compose = parse(composeText, { merge: true }) as Compose & { services: Record<string, Record<string, unknown>> };
const caddyfile = readFileSync(join(root, 'docker/front/Caddyfile'), 'utf8');
const renderer = findRenderers().at(-1)!;
const migrations = render(renderer, 'deploy/overlays/production/migrations');
const manifests = [...migrations, ...render(renderer, 'deploy/overlays/example/platform')];
const production = [...migrations, ...render(renderer, 'deploy/overlays/production/platform')];
const appsInCode = readApps();

const findKubernetesDifferences = (
  objects: readonly RenderedObject[],
  apps = appsInCode,
  builtImage = image,
): string[] => findDifferences(apps, readHealthPaths(), builtImage, readKubernetes(objects));
const findComposeDifferences = (text: string, apps = appsInCode, builtImage = image): string[] =>
  findDifferences(apps, readHealthPaths(), builtImage, readCompose(parse(text, { merge: true }) as Compose, caddyfile));

test('the code and the Kubernetes manifests agree', () => expect(findKubernetesDifferences(manifests)).toEqual([]));
test('the code and the production overlay agree, which has no app of the demonstration', () => {
  const appsOfDemo = DEPLOYED_APPS.filter(({ component }) => component === 'demo').map(({ name }) => name);
  expect(findKubernetesDifferences(production)).toEqual(
    appsOfDemo.map((name) => `${name} is in the code, not in Kubernetes`),
  );
});
test('the code and compose.yaml agree', () => expect(findComposeDifferences(composeText)).toEqual([]));

describe('findDifferences', () => {
  const [identity] = appsInCode.filter(({ name }) => name === 'identity');
  class RenamedConfig extends identity!.config {}
  const withRenamedConfig = [...appsInCode.filter((app) => app !== identity), { ...identity!, config: RenamedConfig }];
  const withAddedApp = [...appsInCode, { ...identity!, name: 'no-such-app' }];
  const withoutDispatcher = appsInCode.filter(({ name }) => name !== 'webhook-dispatcher');

  test('reports an app that is only in the code, only in the deployment, or has another configuration', () => {
    for (const find of [
      (apps: typeof appsInCode) => findKubernetesDifferences(manifests, apps),
      (apps: typeof appsInCode) => findComposeDifferences(composeText, apps),
    ]) {
      expect(find(withRenamedConfig)).toEqual([]);
      expect(find(withAddedApp)).toEqual([expect.stringContaining('no-such-app is in the code, not in')]);
      expect(find(withoutDispatcher)).toEqual([
        expect.stringMatching(/^webhook-dispatcher is in .*, not in the code$/),
      ]);
      const withoutMessaging = appsInCode.map((app) => (app === identity ? { ...app, usesMessaging: false } : app));
      expect(find(withoutMessaging)).toEqual([expect.stringContaining('SVC_AMQP_URL is set')]);
      const config = appsInCode.find(({ name }) => name === 'payment-processor')!.config;
      const withMoreVariables = appsInCode.map((app) => (app === identity ? { ...app, config } : app));
      expect(find(withMoreVariables)).toEqual([expect.stringMatching(/identity in .*SVC_API_URL/)]);
    }
  });

  test('reports a changed port of the image', () => {
    const changedImage = { exposedPort: 9090, env: { ...image.env, SVC_PORT: '9090' } };
    // In compose, an app without incoming connections and an app with its own port are not reported.
    expect(findKubernetesDifferences(manifests, appsInCode, changedImage)).toHaveLength(appsInCode.length);
    expect(findComposeDifferences(composeText, appsInCode, changedImage)).toHaveLength(appsInCode.length - 2);
    const inconsistentImage = { ...image, exposedPort: 9090 };
    expect(findComposeDifferences(composeText, appsInCode, inconsistentImage)).toHaveLength(appsInCode.length);
  });

  test.each<[string, (identity: IDeployment) => void, RegExp]>([
    [
      'a missing required variable',
      (deployment) =>
        variablesOf(deployment).splice(
          variablesOf(deployment).findIndex(({ name }) => name === 'SVC_ADMIN_KEY'),
          1,
        ),
      /SVC_ADMIN_KEY/,
    ],
    [
      'a misspelt variable',
      (deployment) => variablesOf(deployment).push({ name: 'SVC_LOGLEVEL', value: 'info' }),
      /SVC_LOGLEVEL is not a variable/,
    ],
    [
      'an invalid value',
      (deployment) => variablesOf(deployment).push({ name: 'SVC_LOG_LEVEL', value: 'loud' }),
      /SVC_LOG_LEVEL/,
    ],
    [
      'a Secret of another app',
      (deployment) =>
        (variablesOf(deployment).find(({ valueFrom }) => valueFrom)!.valueFrom!.secretKeyRef!.name = 'demo-shop'),
      /SVC_DATABASE_URL/,
    ],
    [
      'a secret in plain text',
      (deployment) =>
        Object.assign(
          variablesOf(deployment).find(({ name }) => name === 'SVC_ADMIN_KEY')!,
          { value: 'x'.repeat(40), valueFrom: undefined },
        ),
      /in plain text/,
    ],
    [
      'a wrong port',
      (deployment) => (containerOfDeployment(deployment).ports = [{ name: 'http', containerPort: 9090 }]),
      /identity in Kubernetes: listens on 8080, others connect to/,
    ],
    [
      'a wrong health path',
      (deployment) => (containerOfDeployment(deployment).readinessProbe!.httpGet!.path = '/ready'),
      /has the readiness check \/ready/,
    ],
    [
      'an image of another app',
      (deployment) => (containerOfDeployment(deployment).image = 'registry.example/svc/demo-shop:1'),
      /runs the image of "demo-shop"/,
    ],
    [
      'a wrong name of the app',
      (deployment) => (deployment.metadata!.name = 'identities'),
      /identities is in Kubernetes, not in the code/,
    ],
  ])('reports %s in the manifests', (_, change, expectedProblem) => {
    const copy = structuredClone(manifests);
    change(
      copy.find(
        ({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'identity',
      ) as unknown as IDeployment,
    );
    expect(findKubernetesDifferences(copy).join('\n')).toMatch(expectedProblem);
  });

  test('reports a migration in the manifests that uses the Secret of the app instead of the Secret of the owner', () => {
    const text = JSON.stringify(manifests).replaceAll('"identity-owner"', '"identity"');
    expect(findKubernetesDifferences(JSON.parse(text) as RenderedObject[])).toEqual([
      'identity in Kubernetes: the migration gets no database',
    ]);
  });

  test('reports a schema without a migration in the manifests', () => {
    const withoutJob = manifests.filter(({ kind }) => kind !== 'Job');
    expect(findKubernetesDifferences(withoutJob)).toEqual(
      expect.arrayContaining(['identity in Kubernetes: has no migration']),
    );
  });

  test.each([
    [
      'a missing required variable',
      /\n      SVC_GATEWAY_URL: http:\/\/127[^\n]*/,
      '',
      /hosted-gateway in compose: .*SVC_GATEWAY_URL/,
    ],
    ['a misspelt variable', 'SVC_SHOP_URL:', 'SVC_SHOP_URI:', /SVC_SHOP_URI is not a variable/],
    [
      'a role of another service',
      'svc_identity:',
      'svc_demo_shop:',
      /identity in compose: uses the role svc_demo_shop/,
    ],
    [
      'a service with the role that owns its schema',
      'postgres://svc_identity:',
      'postgres://svc_identity_owner:',
      /identity in compose: uses the role svc_identity_owner, not svc_identity/,
    ],
    [
      'a migration with the role of the service',
      'postgres://svc_identity_owner:',
      'postgres://svc_identity:',
      /identity in compose: uses the role svc_identity, not svc_identity_owner/,
    ],
    [
      'a RabbitMQ user of another service',
      'svc-identity:',
      'svc-payment-processor:',
      /identity in compose: uses the RabbitMQ user svc-payment-processor/,
    ],
    [
      'a secret in plain text',
      '${ADMIN_KEY:?run node docker/secrets.ts}',
      'x'.repeat(40),
      /SVC_ADMIN_KEY is a secret in plain text/,
    ],
    ['a wrong name of an app', '\n  identity:\n', '\n  identities:\n', /identities is in compose, not in the code/],
    [
      'a schema without a migration',
      '\n  demo-shop-migrate:\n',
      '\n  demo-shop-migration:\n',
      /demo-shop in compose: has no migration/,
    ],
  ])('reports %s in compose', (_, original, replacement, expectedProblem) => {
    const changedText = composeText.replace(original, replacement);
    expect(changedText).not.toBe(composeText);
    expect(findComposeDifferences(changedText).join('\n')).toMatch(expectedProblem);
  });
});

test('roles.sql and compose have the same roles and schemas as ./svc', () => {
  const sql = readFileSync(join(root, 'deploy/database/roles.sql'), 'utf8');
  const rolesInSql = [...(/ARRAY\[([^\]]+)\]/.exec(sql)?.[1] ?? '').matchAll(/'(\w+)'/g)].map(
    ([, name]) => `svc_${name}`,
  );
  expect(rolesInSql.toSorted()).toEqual(SERVICES.map(roleOf).toSorted());
  const passwords = [...composeText.matchAll(/-c svc\.(\w+)_password=/g)].map(([, name]) => `svc_${name}`);
  expect(passwords.toSorted()).toEqual([...SERVICES.map(roleOf), ...SERVICES.map(ownerRoleOf)].toSorted());
});

test('compose uses exactly the variables that docker/secrets.ts writes', () => {
  const users = readFileSync(join(root, 'docker/rabbitmq-users.yaml'), 'utf8');
  const texts = (composeText + users).replace(/^\s*#.*$/gm, '').matchAll(/\$\{(\w+):\?/g);
  const usedVariables = [...texts].map(([, name]) => name);
  expect([...new Set(usedVariables)].toSorted()).toEqual([...COMPOSE_SECRETS].toSorted());
});

test('every app to which the reverse proxy of compose forwards is a service of compose', () => {
  const upstreams = [...caddyfile.matchAll(/reverse_proxy ([\w-]+):/g)].map(([, name]) => name);
  expect(Object.keys(compose.services)).toEqual(expect.arrayContaining(upstreams));
  // An app that shares the network of the reverse proxy has no DNS name of its own, so the proxy has an alias for it.
  const servicesInProxyNetwork = Object.entries(compose.services).filter(
    ([, service]) => service['network_mode'] === 'service:front',
  );
  expect(compose.services['front']).toMatchObject({
    networks: { default: { aliases: servicesInProxyNetwork.map(([name]) => name) } },
  });
});

function containerOfDeployment(deployment: IDeployment) {
  return deployment.spec!.template.spec!.containers[0]!;
}

function variablesOf(deployment: IDeployment) {
  return (containerOfDeployment(deployment).env ??= []);
}
