/**
 * Writes the generated files (from apps.ts and libs/contracts/src/routes.ts): `node deploy/generate.ts`.
 * They are committed, plain YAML for `kubectl apply -k`; a test fails when they are stale.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import { MESSAGING_SERVICES } from '../libs/contracts/src/service-messages.ts';
import { schemaOf } from '../tools/svc/processes/env-files.ts';
import { definitionsOf } from '../tools/svc/rabbitmq/rabbitmq-users.ts';
import { DEPLOYED_APPS } from './apps.ts';
import { caddyfile, httpRouteOf } from './http-routes.ts';
import { migrationJob, objectsOf } from './kubernetes.ts';
import { callersOf } from './network-policies.ts';

const HEADER = '# Made by deploy/generate.ts from deploy/apps.ts and libs/contracts/src/routes.ts. Do not edit.\n';
const MESSAGES_HEADER =
  '# Made by deploy/generate.ts from libs/contracts/src/service-messages.ts and rabbitmq-names.ts. Do not edit.\n';
const FOLDER = { platform: 'deploy/base', demo: 'deploy/demo' } as const;

/** Every file, by its path in the repository. */
export function generatedFiles(): Map<string, string> {
  const files = new Map<string, string>();
  for (const app of DEPLOYED_APPS) {
    files.set(`${FOLDER[app.part]}/${app.name}.yaml`, yaml(objectsOf(app, callersOf(app, DEPLOYED_APPS))));
  }
  files.set('deploy/base/routes.yaml', yaml([httpRouteOf('api'), httpRouteOf('gateway'), httpRouteOf('admin')]));
  files.set('deploy/demo/routes.yaml', yaml([httpRouteOf('shop')]));
  const withSchema = DEPLOYED_APPS.filter(({ part, schema }) => part === 'platform' && schema !== undefined);
  files.set('deploy/migrations/job.yaml', yaml(migrationJob(withSchema)));
  files.set('docker/front/Caddyfile', HEADER + caddyfile());
  files.set('deploy/rabbitmq/permissions.json', `${JSON.stringify(definitionsOf({ vhost: '/' }), null, 2)}\n`);
  files.set('docker/rabbitmq-users.yaml', MESSAGES_HEADER + stringify(composeUsers(), { lineWidth: 0 }));
  return files;
}

/** Compose inserts the passwords from docker/.env; a literal dollar is written twice. */
function composeUsers(): object {
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

function yaml(objects: readonly object[]): string {
  const documents = objects.map((object) => stringify(object, { lineWidth: 120, aliasDuplicateObjects: false }));
  return HEADER + documents.join('---\n');
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..');
  for (const [path, content] of generatedFiles()) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
}
