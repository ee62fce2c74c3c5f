/**
 * `node deploy/generate.ts` writes the files that are generated from apps.ts, libs/contracts/src/routes.ts and
 * service-messages.ts: the manifests for `kubectl apply -k`, the routes of compose and the permissions in RabbitMQ.
 * The files are committed. A test fails if they are stale.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import { MESSAGING_SERVICES } from '../libs/contracts/src/service-messages.ts';
import { schemaOf } from '../tools/svc/processes/env-files.ts';
import { definitionsOf } from '../tools/svc/rabbitmq/rabbitmq-users.ts';
import { DEPLOYED_APPS } from './apps.ts';
import { createCaddyfile, createHttpRoute } from './http-routes.ts';
import { createMigrationJob, createObjects } from './kubernetes.ts';
import { findCallers } from './network-policies.ts';

const HEADER = '# Made by deploy/generate.ts from deploy/apps.ts and libs/contracts/src/routes.ts. Do not edit.\n';
const MESSAGES_HEADER =
  '# Made by deploy/generate.ts from libs/contracts/src/service-messages.ts and rabbitmq-names.ts. Do not edit.\n';
const FOLDER = { platform: 'deploy/base', demo: 'deploy/demo' } as const;

/** Generates the content of every file, by its path in the repository. */
export function generateFiles(): Map<string, string> {
  const files = new Map<string, string>();
  for (const app of DEPLOYED_APPS) {
    files.set(`${FOLDER[app.component]}/${app.name}.yaml`, toYaml(createObjects(app, findCallers(app, DEPLOYED_APPS))));
  }
  files.set(
    'deploy/base/routes.yaml',
    toYaml([createHttpRoute('api'), createHttpRoute('gateway'), createHttpRoute('admin')]),
  );
  files.set('deploy/demo/routes.yaml', toYaml([createHttpRoute('shop')]));
  const appsWithSchema = DEPLOYED_APPS.filter(
    ({ component, schema }) => component === 'platform' && schema !== undefined,
  );
  files.set('deploy/migrations/job.yaml', toYaml(createMigrationJob(appsWithSchema)));
  files.set('docker/front/Caddyfile', HEADER + createCaddyfile());
  files.set('deploy/rabbitmq/permissions.json', `${JSON.stringify(definitionsOf({ vhost: '/' }), null, 2)}\n`);
  files.set('docker/rabbitmq-users.yaml', MESSAGES_HEADER + stringify(createComposeUsers(), { lineWidth: 0 }));
  return files;
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
  const root = join(import.meta.dirname, '..');
  for (const [path, content] of generateFiles()) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
}
