import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { IDeployment } from 'kubernetes-models/apps/v1';
import { parse } from 'yaml';
import { environmentOf, exposedPortOf, readDockerfile } from '../docker/dockerfile.ts';
import { COMPOSE_SECRETS } from '../docker/secrets.ts';
import { ownerRoleOf, roleOf } from '../tools/svc/processes/env-files.ts';
import { SERVICES } from '../tools/svc/base/settings.ts';
import { appsInCode, healthPaths } from './checks/code.ts';
import { type AnyObject, type Compose, composeFacts, kubernetesFacts } from './checks/deployed.ts';
import { findDifferences, type Image } from './checks/differences.ts';
import { findRenderers, render } from './checks/render.ts';

const root = join(import.meta.dirname, '..');
const dockerfile = readDockerfile(join(root, 'docker/Dockerfile'));
const image: Image = { env: environmentOf(dockerfile), exposedPort: exposedPortOf(dockerfile) };
const composeText = readFileSync(join(root, 'docker/compose.yaml'), 'utf8');
const compose = parse(composeText, { merge: true }) as Compose & { services: Record<string, Record<string, unknown>> };
const caddyfile = readFileSync(join(root, 'docker/front/Caddyfile'), 'utf8');
const renderer = findRenderers()[0]!;
const manifests = ['migrations', 'platform'].flatMap((part) => render(renderer, `deploy/overlays/example/${part}`));
const code = appsInCode();

const inKubernetes = (objects: readonly AnyObject[], of = code, by = image): string[] =>
  findDifferences(of, healthPaths(), by, kubernetesFacts(objects));
const inCompose = (text: string, of = code, by = image): string[] =>
  findDifferences(of, healthPaths(), by, composeFacts(parse(text, { merge: true }) as Compose, caddyfile));

test('code and manifests agree', () => expect(inKubernetes(manifests)).toEqual([]));
test('code and compose agree', () => expect(inCompose(composeText)).toEqual([]));

describe('a change of one side is found', () => {
  const [identity] = code.filter(({ name }) => name === 'identity');
  class WithOneMore extends identity!.config {}
  const changed = [...code.filter((app) => app !== identity), { ...identity!, config: WithOneMore }];
  const added = [...code, { ...identity!, name: 'no-such-app' }];
  const fewer = code.filter(({ name }) => name !== 'webhook-dispatcher');

  test('of the code: an app that is new, gone, or needs more', () => {
    for (const find of [
      (of: typeof code) => inKubernetes(manifests, of),
      (of: typeof code) => inCompose(composeText, of),
    ]) {
      expect(find(changed)).toEqual([]);
      expect(find(added)).toEqual([expect.stringContaining('no-such-app is in the code, not in')]);
      expect(find(fewer)).toEqual([expect.stringMatching(/^webhook-dispatcher is in .*, not in the code$/)]);
      const silent = code.map((app) => (app === identity ? { ...app, usesMessaging: false } : app));
      expect(find(silent)).toEqual([expect.stringContaining('SVC_AMQP_URL is set')]);
      const config = code.find(({ name }) => name === 'payment-processor')!.config;
      const demanding = code.map((app) => (app === identity ? { ...app, config } : app));
      expect(find(demanding)).toEqual([expect.stringMatching(/identity in .*SVC_ACQUIRER_URL/)]);
    }
  });

  test('of the image: another port', () => {
    const other = { exposedPort: 9090, env: { ...image.env, SVC_PORT: '9090' } };
    // All except those without incoming connections, and those with their own port in compose.
    expect(inKubernetes(manifests, code, other)).toHaveLength(code.length);
    expect(inCompose(composeText, code, other)).toHaveLength(code.length - 2);
    const inconsistent = { ...image, exposedPort: 9090 };
    expect(inCompose(composeText, code, inconsistent)).toHaveLength(code.length);
  });

  test.each<[string, (identity: IDeployment) => void, RegExp]>([
    [
      'a required variable is gone',
      (one) =>
        env(one).splice(
          env(one).findIndex((v) => v.name === 'SVC_ADMIN_KEY'),
          1,
        ),
      /SVC_ADMIN_KEY/,
    ],
    [
      'a variable is misspelt',
      (one) => env(one).push({ name: 'SVC_LOGLEVEL', value: 'info' }),
      /SVC_LOGLEVEL is not a variable/,
    ],
    ['a value is refused', (one) => env(one).push({ name: 'SVC_LOG_LEVEL', value: 'loud' }), /SVC_LOG_LEVEL/],
    [
      'a secret of another app',
      (one) => (env(one).find((v) => v.valueFrom)!.valueFrom!.secretKeyRef!.name = 'demo-shop'),
      /SVC_DATABASE_URL/,
    ],
    [
      'a secret in plain text',
      (one) =>
        Object.assign(
          env(one).find((v) => v.name === 'SVC_ADMIN_KEY')!,
          { value: 'x'.repeat(40), valueFrom: undefined },
        ),
      /in plain text/,
    ],
    [
      'the port is another',
      (one) => (container(one).ports = [{ name: 'http', containerPort: 9090 }]),
      /identity in Kubernetes: listens on 8080, others connect to/,
    ],
    [
      'the health path is another',
      (one) => (container(one).readinessProbe!.httpGet!.path = '/ready'),
      /has the readiness check \/ready/,
    ],
    [
      'the image is another app',
      (one) => (container(one).image = 'registry.example/svc/demo-shop:1'),
      /runs the image of "demo-shop"/,
    ],
    [
      'the app has another name',
      (one) => (one.metadata!.name = 'identities'),
      /identities is in Kubernetes, not in the code/,
    ],
  ])('of the manifests: %s', (_what, change, found) => {
    const copy = structuredClone(manifests);
    change(
      copy.find(
        ({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'identity',
      ) as unknown as IDeployment,
    );
    expect(inKubernetes(copy).join('\n')).toMatch(found);
  });

  test('of the manifests: a migration with the Secret of the app, whose role does not own the schema', () => {
    const text = JSON.stringify(manifests).replaceAll('"identity-owner"', '"identity"');
    expect(inKubernetes(JSON.parse(text) as AnyObject[])).toEqual([
      'identity in Kubernetes: the migration gets no database',
    ]);
  });

  test('of the manifests: a schema without a migration', () => {
    const withoutJob = manifests.filter(({ kind }) => kind !== 'Job');
    expect(inKubernetes(withoutJob)).toEqual(expect.arrayContaining(['identity in Kubernetes: has no migration']));
  });

  test.each([
    [
      'a required variable is gone',
      /\n      SVC_GATEWAY_URL: http:\/\/127[^\n]*/,
      '',
      /hosted-gateway in compose: .*SVC_GATEWAY_URL/,
    ],
    ['a variable is misspelt', 'SVC_SHOP_URL:', 'SVC_SHOP_URI:', /SVC_SHOP_URI is not a variable/],
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
    ['an app has another name', '\n  identity:\n', '\n  identities:\n', /identities is in compose, not in the code/],
    [
      'a schema without a migration',
      '\n  demo-shop-migrate:\n',
      '\n  demo-shop-migration:\n',
      /demo-shop in compose: has no migration/,
    ],
  ])('of compose: %s', (_what, from, to, found) => {
    const changedText = composeText.replace(from, to);
    expect(changedText).not.toBe(composeText);
    expect(inCompose(changedText).join('\n')).toMatch(found);
  });
});

test('the roles and schemas are the same as in ./svc', () => {
  const sql = readFileSync(join(root, 'deploy/database/roles.sql'), 'utf8');
  const listed = [...(/ARRAY\[([^\]]+)\]/.exec(sql)?.[1] ?? '').matchAll(/'(\w+)'/g)].map(([, name]) => `svc_${name}`);
  expect(listed.toSorted()).toEqual(SERVICES.map(roleOf).toSorted());
  const passwords = [...composeText.matchAll(/-c svc\.(\w+)_password=/g)].map(([, name]) => `svc_${name}`);
  expect(passwords.toSorted()).toEqual([...SERVICES.map(roleOf), ...SERVICES.map(ownerRoleOf)].toSorted());
});

test('compose uses exactly the variables that docker/secrets.ts writes', () => {
  const users = readFileSync(join(root, 'docker/rabbitmq-users.yaml'), 'utf8');
  const texts = (composeText + users).replace(/^\s*#.*$/gm, '').matchAll(/\$\{(\w+):\?/g);
  const taken = [...texts].map(([, name]) => name);
  expect([...new Set(taken)].toSorted()).toEqual([...COMPOSE_SECRETS].toSorted());
});

test('the front of compose reaches every app', () => {
  const upstreams = [...caddyfile.matchAll(/reverse_proxy ([\w-]+):/g)].map(([, name]) => name);
  expect(Object.keys(compose.services)).toEqual(expect.arrayContaining(upstreams));
  // An app that shares the front's network has no name of its own there.
  const sharing = Object.entries(compose.services).filter(([, service]) => service['network_mode'] === 'service:front');
  expect(compose.services['front']).toMatchObject({
    networks: { default: { aliases: sharing.map(([name]) => name) } },
  });
});

function container(deployment: IDeployment) {
  return deployment.spec!.template.spec!.containers[0]!;
}

function env(deployment: IDeployment) {
  return (container(deployment).env ??= []);
}
