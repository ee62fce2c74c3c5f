/**
 * Lists the differences between the code and a deployment, in both directions. Pure functions, without input or output.
 */
import { loadConfig } from '@svc/service';
import type { AppInCode } from './code.ts';
import type { AppDeployment, Deployment } from './deployed.ts';
import { PLAUSIBLE_SECRETS } from './plausible-environment.ts';

export interface Image {
  readonly env: Readonly<Record<string, string>>;
  readonly exposedPort: number;
}

/** Returns one line for each difference; empty if code and deployment agree. */
export function findDifferences(
  code: readonly AppInCode[],
  health: { readonly live: string; readonly ready: string },
  image: Image,
  deployed: Deployment,
): string[] {
  const target = deployed.target;
  const missing = code.filter(({ name }) => !deployed.apps.some((app) => app.name === name));
  return [
    ...missing.map(({ name }) => `${name} is in the code, not in ${target}`),
    ...deployed.apps.flatMap((app) => {
      const appInCode = code.find(({ name }) => name === app.name);
      if (appInCode === undefined) return [`${app.name} is in ${target}, not in the code`];
      return [
        ...findConfigurationProblems(appInCode, app, image),
        ...findPortProblems(app, image),
        ...findHealthProblems(app, health),
        ...findMigrationProblems(appInCode, app),
        ...findBrokerUserProblems(app),
      ].map((problem) => `${app.name} in ${target}: ${problem}`);
    }),
  ];
}

/** Loads the configuration as the service itself does, which reports missing, unknown and invalid variables. */
function findConfigurationProblems(appInCode: AppInCode, app: AppDeployment, image: Image): string[] {
  const problems: string[] = [];
  if (app.image !== appInCode.name) problems.push(`runs the image of "${app.image}"`);
  try {
    loadConfig(appInCode.config, { ...image.env, ...app.env });
  } catch (error) {
    problems.push((error as Error).message);
  }
  if (appInCode.usesMessaging !== (app.env['SVC_AMQP_URL'] !== undefined)) {
    problems.push(
      appInCode.usesMessaging ? 'SVC_AMQP_URL is not set' : 'SVC_AMQP_URL is set, but the app has no messages',
    );
  }
  for (const name of Object.keys(app.env)) {
    const isSecret = PLAUSIBLE_SECRETS[name] !== undefined;
    if (isSecret && !app.secretVariables.includes(name)) problems.push(`${name} is a secret in plain text`);
  }
  return problems;
}

function findPortProblems(app: AppDeployment, image: Image): string[] {
  const listeningPort = Number(app.env['SVC_PORT'] ?? image.env['SVC_PORT']);
  const port = Number(image.env['SVC_PORT']);
  return [
    ...(image.exposedPort === port ? [] : [`the image exposes ${image.exposedPort} and listens on ${port}`]),
    ...(app.port === undefined || app.port === listeningPort
      ? []
      : [`listens on ${listeningPort}, others connect to ${app.port}`]),
  ];
}

function findHealthProblems(app: AppDeployment, health: { readonly live: string; readonly ready: string }): string[] {
  if (app.health === undefined) return [];
  return [
    ...(app.health.live === health.live ? [] : [`has the liveness check ${app.health.live}, not ${health.live}`]),
    ...(app.health.ready === health.ready ? [] : [`has the readiness check ${app.health.ready}, not ${health.ready}`]),
  ];
}

/**
 * Checks the user in the broker's URL. Only the URLs of compose are in the repository. The URLs for Kubernetes are in
 * the app's Secret.
 */
function findBrokerUserProblems({ name, env }: AppDeployment): string[] {
  const url = env['SVC_AMQP_URL'];
  if (url === undefined || url === PLAUSIBLE_SECRETS['SVC_AMQP_URL']) return [];
  const { username } = new URL(url);
  return username === `svc-${name}` ? [] : [`uses the RabbitMQ user ${username}, not svc-${name}`];
}

function findMigrationProblems(appInCode: AppInCode, app: AppDeployment): string[] {
  if (appInCode.schema === undefined) return app.migration === undefined ? [] : ['has a migration, but no schema'];
  if (app.migration === undefined) return ['has no migration'];
  const unneededVariables = Object.keys(app.migration).filter(
    (name) => !['SVC_DATABASE_URL', 'NODE_OPTIONS'].includes(name),
  );
  const role = `svc_${appInCode.schema}`;
  const logins = [
    [`${role}_owner`, app.migration['SVC_DATABASE_URL']],
    [role, app.env['SVC_DATABASE_URL']],
  ] as const;
  return [
    ...unneededVariables.map((name) => `the migration gets ${name}, which it does not need`),
    ...(app.migration['SVC_DATABASE_URL'] === undefined ? ['the migration gets no database'] : []),
    // Only the URLs of compose are in the repository. The URLs for Kubernetes are in the app's Secret.
    ...logins.flatMap(([expected, url]) => {
      const user =
        url === undefined || url === PLAUSIBLE_SECRETS['SVC_DATABASE_URL'] ? expected : new URL(url).username;
      return user === expected ? [] : [`uses the role ${user}, not ${expected}`];
    }),
  ];
}
