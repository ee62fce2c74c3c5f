import type { DeployedApp } from '../apps.ts';

/** For each secret variable: a value in the valid format, which gives access to nothing. */
export const PLAUSIBLE_SECRETS: Readonly<Record<string, string>> = {
  SVC_DATABASE_URL: 'postgres://role:password@database.example:5432/svc',
  SVC_AMQP_URL: 'amqp://user:password@broker.example:5672',
  SVC_ADMIN_KEY: 'not-a-key-only-as-long-as-one-would-be-000',
  SVC_SEALING_KEY: 'A'.repeat(43),
  SVC_CHALLENGE_KEYS: 'A'.repeat(43),
  SVC_CARD_FINGERPRINT_KEYS: 'B'.repeat(43),
  SVC_CODE_PROVIDERS: '[]',
};

/** The variables of a deployed app in a demonstration, with plausible values for its secrets. */
export function createPlausibleEnvironment(app: DeployedApp): Record<string, string> {
  return {
    ...app.variables,
    ...app.inDemo?.variables,
    ...Object.fromEntries(app.secrets.map((name) => [name, PLAUSIBLE_SECRETS[name] ?? ''])),
  };
}
