import type { DeployedApp } from '../apps.ts';

/** What a secret looks like: enough for a service to take it. By the variable's name; these open nothing. */
export const PLAUSIBLE_SECRETS: Readonly<Record<string, string>> = {
  SVC_DATABASE_URL: 'postgres://role:password@database.example:5432/svc',
  SVC_AMQP_URL: 'amqp://user:password@broker.example:5672',
  SVC_ADMIN_KEY: 'not-a-key-only-as-long-as-one-would-be-000',
  SVC_SEALING_KEY: 'A'.repeat(43),
  SVC_CODE_PROVIDERS: '[]',
};

/** The variables an app is deployed with. */
export function plausibleEnvironment(app: DeployedApp): Record<string, string> {
  return { ...app.variables, ...Object.fromEntries(app.secrets.map((name) => [name, PLAUSIBLE_SECRETS[name] ?? ''])) };
}
