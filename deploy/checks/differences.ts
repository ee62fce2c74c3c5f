/** Lists the differences between code and deployment, both ways; empty if they agree. Pure. */
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

/** Uses the service's own loader: it reports missing, unknown and invalid variables. */
function configurationOf(known: AppInCode, app: AppDeployed, image: Image): string[] {
  const problems: string[] = [];
  if (app.image !== known.name) problems.push(`runs the image of "${app.image}"`);
  try {
    loadConfig(known.config, { ...image.env, ...app.env });
  } catch (error) {
    problems.push((error as Error).message);
  }
  if (known.usesMessaging !== (app.env['SVC_AMQP_URL'] !== undefined)) {
    problems.push(known.usesMessaging ? 'SVC_AMQP_URL is not set' : 'SVC_AMQP_URL is set, but it has no messages');
  }
  for (const name of Object.keys(app.env)) {
    const isSecret = PLAUSIBLE_SECRETS[name] !== undefined;
    if (isSecret && !app.fromSecrets.includes(name)) problems.push(`${name} is a secret in plain text`);
  }
  return problems;
}

function portsOf(app: AppDeployed, image: Image): string[] {
  const listens = Number(app.env['SVC_PORT'] ?? image.env['SVC_PORT']);
  const port = Number(image.env['SVC_PORT']);
  return [
    ...(image.exposedPort === port ? [] : [`the image exposes ${image.exposedPort} and listens on ${port}`]),
    ...(app.port === undefined || app.port === listens ? [] : [`listens on ${listens}, others connect to ${app.port}`]),
  ];
}

function healthOf(app: AppDeployed, health: { readonly live: string; readonly ready: string }): string[] {
  if (app.health === undefined) return [];
  return [
    ...(app.health.live === health.live ? [] : [`has the liveness check ${app.health.live}, not ${health.live}`]),
    ...(app.health.ready === health.ready ? [] : [`has the readiness check ${app.health.ready}, not ${health.ready}`]),
  ];
}

/** Only compose has addresses in the repository; in Kubernetes they are in the app's own Secret. */
function brokerUserOfApp({ name, env }: AppDeployed): string[] {
  const url = env['SVC_AMQP_URL'];
  if (url === undefined || url === PLAUSIBLE_SECRETS['SVC_AMQP_URL']) return [];
  const { username } = new URL(url);
  return username === `svc-${name}` ? [] : [`uses the RabbitMQ user ${username}, not svc-${name}`];
}

function migrationOf(known: AppInCode, app: AppDeployed): string[] {
  if (known.schema === undefined) return app.migration === undefined ? [] : ['has a migration, but no schema'];
  if (app.migration === undefined) return ['has no migration'];
  const problems = Object.keys(app.migration).filter((name) => name !== 'SVC_DATABASE_URL');
  const role = `svc_${known.schema}`;
  const logins = [
    [`${role}_owner`, app.migration['SVC_DATABASE_URL']],
    [role, app.env['SVC_DATABASE_URL']],
  ] as const;
  return [
    ...problems.map((name) => `the migration gets ${name}, which it does not need`),
    ...(app.migration['SVC_DATABASE_URL'] === undefined ? ['the migration gets no database'] : []),
    // Only compose has addresses in the repository; in Kubernetes they are in the app's own Secret.
    ...logins.flatMap(([expected, url]) => {
      const user =
        url === undefined || url === PLAUSIBLE_SECRETS['SVC_DATABASE_URL'] ? expected : new URL(url).username;
      return user === expected ? [] : [`uses the role ${user}, not ${expected}`];
    }),
  ];
}
