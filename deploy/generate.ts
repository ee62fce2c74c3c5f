/**
 * `node deploy/generate.ts` writes the files that are generated from apps.ts, libs/contracts/src/routes.ts and
 * service-messages.ts: the manifests for `kubectl apply -k`, the routes of compose and the permissions in RabbitMQ.
 * The files are committed. A test fails if they are stale.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import { MESSAGING_SERVICES } from '../libs/contracts/src/service-messages.ts';
import { schemaOf } from '../tools/svc/processes/env-files.ts';
import { definitionsOf } from '../tools/svc/rabbitmq/rabbitmq-users.ts';
import { createLabels, DEPLOYED_APPS, type DeployedApp } from './apps.ts';
import { writeFigures } from './figures.ts';
import { createCaddyfile, createHttpRoute } from './http-routes.ts';
import { createObjects } from './kubernetes.ts';
import { createMigrationJob } from './migration-job.ts';
import {
  createDemoPolicy,
  createMailPolicy,
  createNodeLocalDnsPolicy,
  createTelemetryPolicy,
  findCallers,
} from './network-policies.ts';
import { createAdyenHostPolicy } from './optional/adyen-host-names.ts';
import { createDatabase } from './optional/cloudnative-pg.ts';
import { ADYEN_SECRET, createExternalSecret, createExternalSecrets } from './optional/external-secrets.ts';
import { createScaledObjects } from './optional/keda.ts';
import { createMonitors } from './optional/monitoring.ts';
import { createPrivateCaPatch, createPrivateCaVolumePatch } from './optional/private-ca.ts';
import { createBroker } from './optional/rabbitmq.ts';

const HEADER = '# Made by deploy/generate.ts from deploy/apps.ts and libs/contracts/src/routes.ts. Do not edit.\n';
const MESSAGES_HEADER =
  '# Made by deploy/generate.ts from libs/contracts/src/service-messages.ts and rabbitmq-names.ts. Do not edit.\n';
const ROOT = join(import.meta.dirname, '..');
const README = 'deploy/README.md';
const PLATFORM_APPS = DEPLOYED_APPS.filter(({ component }) => component === 'platform');
const FOLDER = { platform: 'deploy/base', demo: 'deploy/demo' } as const;

/** Generates the content of every file, by its path in the repository. */
export function generateFiles(): Map<string, string> {
  const files = new Map<string, string>();
  for (const app of DEPLOYED_APPS) {
    files.set(`${FOLDER[app.component]}/${app.name}.yaml`, toYaml(createObjects(app, findCallers(app, DEPLOYED_APPS))));
  }
  files.set(
    'deploy/base/routes.yaml',
    toYaml([createHttpRoute('api'), createHttpRoute('gateway'), createHttpRoute('admin'), createHttpRoute('console')]),
  );
  files.set('deploy/demo/routes.yaml', toYaml([createHttpRoute('shop')]));
  const changedByDemo = DEPLOYED_APPS.filter(({ inDemo }) => inDemo !== undefined);
  files.set('deploy/demo/platform.yaml', toYaml(changedByDemo.map(createDemoPolicy)));
  files.set('deploy/demo/patches.yaml', toYaml(changedByDemo.map(createDemoPatch)));
  const appsWithSchema = PLATFORM_APPS.filter(({ schema }) => schema !== undefined);
  files.set('deploy/migrations/job.yaml', toYaml(createMigrationJob(appsWithSchema)));
  for (const [path, content] of generateComponents(appsWithSchema.length)) files.set(path, content);
  files.set(README, writeFigures(readFileSync(join(ROOT, README), 'utf8')));
  files.set('docker/front/Caddyfile', HEADER + createCaddyfile());
  files.set('deploy/rabbitmq/permissions.json', `${JSON.stringify(definitionsOf({ vhost: '/' }), null, 2)}\n`);
  files.set('docker/rabbitmq-users.yaml', MESSAGES_HEADER + stringify(createComposeUsers(), { lineWidth: 0 }));
  return files;
}

/** The objects and patches of the optional components and of the operators. Their kustomizations are written by hand. */
function generateComponents(migrationCount: number): [string, string][] {
  const objects: Readonly<Record<string, readonly object[]>> = {
    'components/telemetry/network-policy.yaml': [createTelemetryPolicy()],
    'components/mail/network-policy.yaml': [createMailPolicy()],
    'components/node-local-dns/network-policy.yaml': [createNodeLocalDnsPolicy()],
    'components/keda/scaled-objects.yaml': createScaledObjects(PLATFORM_APPS),
    'components/external-secrets/secrets.yaml': createExternalSecrets(PLATFORM_APPS),
    'components/external-secrets-adyen/secret.yaml': [createExternalSecret(ADYEN_SECRET, 'platform')],
    'components/adyen-host-names/cilium-network-policy.yaml': [
      createAdyenHostPolicy(createLabels('payment-processor-to-adyen-hosts', 'platform')),
    ],
    'operators/cloudnative-pg/database.yaml': createDatabase(PLATFORM_APPS),
    'operators/rabbitmq/broker.yaml': createBroker(),
    'operators/prometheus/monitors.yaml': createMonitors(),
  };
  const patches: Readonly<Record<string, object>> = {
    'volume.yaml': createPrivateCaVolumePatch(),
    'container.yaml': createPrivateCaPatch(1),
    'init-container.yaml': createPrivateCaPatch(1, 'initContainers'),
    'migrations.yaml': createPrivateCaPatch(migrationCount),
  };
  return [
    ...Object.entries(objects).map(([path, list]): [string, string] => [`deploy/${path}`, toYaml(list)]),
    ...Object.entries(patches).map(([name, patch]): [string, string] => [
      `deploy/components/private-ca/${name}`,
      toYaml([patch]),
    ]),
  ];
}

/** Adds the variables that an app of the platform has in a demonstration. */
function createDemoPatch({ name, inDemo }: DeployedApp): object {
  const env = Object.entries(inDemo?.variables ?? {}).map(([variable, value]) => ({ name: variable, value }));
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: { template: { spec: { containers: [{ name, env }] } } },
  };
}

/**
 * The file with RabbitMQ's users for compose, which inserts the passwords from docker/.env. A literal `$` is written as
 * `$$`.
 */
function createComposeUsers(): object {
  const passwords = Object.fromEntries(
    MESSAGING_SERVICES.map((service) => [service, `\0${schemaOf(service).toUpperCase()}_RABBITMQ_PASSWORD\0`]),
  ) as Record<(typeof MESSAGING_SERVICES)[number], string>;
  const administrator = { name: 'svc', password: '\0RABBITMQ_PASSWORD\0' };
  const definitions = JSON.stringify(definitionsOf({ vhost: '/', passwords, administrator }), null, 2);
  const content = definitions
    .replaceAll('$', '$$$$')
    .replaceAll(/\\u0000(\w+?)\\u0000/g, (_, name: string) => `\${${name}:?run node docker/secrets.ts}`);
  return {
    configs: {
      'rabbitmq-definitions': { content },
      'rabbitmq-settings': { content: 'load_definitions = /etc/rabbitmq/definitions.json\n' },
    },
  };
}

function toYaml(objects: readonly object[]): string {
  const documents = objects.map((object) => stringify(object, { lineWidth: 120, aliasDuplicateObjects: false }));
  return HEADER + documents.join('---\n');
}

if (import.meta.main) {
  for (const [path, content] of generateFiles()) {
    mkdirSync(dirname(join(ROOT, path)), { recursive: true });
    writeFileSync(join(ROOT, path), content);
  }
}
