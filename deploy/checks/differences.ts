/** Where code and deployment say different things, both ways, in words. Empty: they agree. Pure. */
import { loadConfig } from '@svc/service';
import type { AppInCode } from './code.ts';
import type { AppDeployed, DeployedFacts } from './deployed.ts';
import { PLAUSIBLE_SECRETS } from './plausible-environment.ts';

export interface Image {
  readonly env: Readonly<Record<string, string>>;
  readonly exposedPort: number;
}

export function findDifferences(
  code: readonly AppInCode[],
  health: { readonly live: string; readonly ready: string },
  image: Image,
  deployed: DeployedFacts,
): string[] {
  const at = deployed.where;
  const missing = code.filter(({ name }) => !deployed.apps.some((app) => app.name === name));
  return [
    ...missing.map(({ name }) => `${name} is in the code, not in ${at}`),
    ...deployed.apps.flatMap((app) => {
      const known = code.find(({ name }) => name === app.name);
      if (known === undefined) return [`${app.name} is in ${at}, not in the code`];
      return [
        ...configurationOf(known, app, image),
        ...portsOf(app, image),
        ...healthOf(app, health),
        ...migrationOf(known, app),
        ...brokerUserOfApp(app),
      ].map((problem) => `${app.name} in ${at}: ${problem}`);
    }),
  ];
}

/** The service's own loader judges: a required variable that is missing, one it does not know, a value it refuses. */
function configurationOf(known: AppInCode, app: AppDeployed, image: Image): string[] {
  const problems: string[] = [];
  if (app.image !== known.name) problems.push(`runs the image of "${app.image}"`);
  try {
    loadConfig(known.config, { ...image.env, ...app.env });
  } catch (error) {
    problems.push((error as Error).message);
  }
  if (known.speaksToOthers !== (app.env['SVC_AMQP_URL'] !== undefined)) {
    problems.push(known.speaksToOthers ? 'SVC_AMQP_URL is not set' : 'SVC_AMQP_URL is set, but it speaks to no other');
  }
  for (const name of Object.keys(app.env)) {
    const isSecret = PLAUSIBLE_SECRETS[name] !== undefined;
    if (isSecret && !app.fromSecrets.includes(name)) problems.push(`${name} is a secret, and written down`);
  }
  return problems;
}

function portsOf(app: AppDeployed, image: Image): string[] {
  const listens = Number(app.env['SVC_PORT'] ?? image.env['SVC_PORT']);
  const says = Number(image.env['SVC_PORT']);
  return [
    ...(image.exposedPort === says ? [] : [`the image exposes ${image.exposedPort} and listens on ${says}`]),
    ...(app.port === undefined || app.port === listens
      ? []
      : [`listens on ${listens}, others look for it on ${app.port}`]),
  ];
}

function healthOf(app: AppDeployed, health: { readonly live: string; readonly ready: string }): string[] {
  if (app.health === undefined) return [];
  return [
    ...(app.health.live === health.live ? [] : [`is asked ${app.health.live} whether it lives, not ${health.live}`]),
    ...(app.health.ready === health.ready
      ? []
      : [`is asked ${app.health.ready} whether it is ready, not ${health.ready}`]),
  ];
}

/** Only compose writes addresses down; in Kubernetes they are in the app's own Secret. */
function brokerUserOfApp({ name, env }: AppDeployed): string[] {
  const url = env['SVC_AMQP_URL'];
  if (url === undefined || url === PLAUSIBLE_SECRETS['SVC_AMQP_URL']) return [];
  const { username } = new URL(url);
  return username === `svc-${name}` ? [] : [`uses the RabbitMQ user ${username}, not svc-${name}`];
}

function migrationOf(known: AppInCode, app: AppDeployed): string[] {
  if (known.schema === undefined) return app.migration === undefined ? [] : ['has nothing to migrate'];
  if (app.migration === undefined) return ['is not migrated'];
  const problems = Object.keys(app.migration).filter((name) => name !== 'SVC_DATABASE_URL');
  const role = `svc_${known.schema}`;
  const logins = [
    [`${role}_owner`, app.migration['SVC_DATABASE_URL']],
    [role, app.env['SVC_DATABASE_URL']],
  ] as const;
  return [
    ...problems.map((name) => `the migration is given ${name}, which it does not need`),
    ...(app.migration['SVC_DATABASE_URL'] === undefined ? ['the migration is given no database'] : []),
    // Only compose writes addresses down; in Kubernetes they are in the app's own Secret.
    ...logins.flatMap(([expected, url]) => {
      const user =
        url === undefined || url === PLAUSIBLE_SECRETS['SVC_DATABASE_URL'] ? expected : new URL(url).username;
      return user === expected ? [] : [`uses the role ${user}, not ${expected}`];
    }),
  ];
}
