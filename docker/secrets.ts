/** `node docker/secrets.ts`: makes the secrets of docker/compose.yaml, once. They are in docker/.env, for its owner alone. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Every name that compose.yaml takes from its environment. */
export const COMPOSE_SECRETS = [
  'POSTGRES_PASSWORD',
  'RABBITMQ_PASSWORD',
  'IDENTITY_DATABASE_PASSWORD',
  'PAYMENT_PROCESSOR_DATABASE_PASSWORD',
  'HOSTED_GATEWAY_DATABASE_PASSWORD',
  'WEBHOOK_DISPATCHER_DATABASE_PASSWORD',
  'DEMO_SHOP_DATABASE_PASSWORD',
  'CODE_DECODER_DATABASE_PASSWORD',
  'PAYMENT_HISTORY_DATABASE_PASSWORD',
  'ADMIN_KEY',
  'IDENTITY_SEALING_KEY',
  'PAYMENT_PROCESSOR_SEALING_KEY',
  'WEBHOOK_DISPATCHER_SEALING_KEY',
] as const;

/** 32 random bytes each, base64url: fits an address, an environment file and a sealing key alike. */
export function makeSecrets(): Record<(typeof COMPOSE_SECRETS)[number], string> {
  return Object.fromEntries(COMPOSE_SECRETS.map((name) => [name, randomBytes(32).toString('base64url')])) as ReturnType<
    typeof makeSecrets
  >;
}

if (import.meta.main) {
  const file = join(import.meta.dirname, '.env');
  // Made by us, or Docker would make it for its mount, and root's.
  mkdirSync(join(import.meta.dirname, 'demo'), { recursive: true });
  const lines = Object.entries(makeSecrets()).map(([name, value]) => `${name}=${value}\n`);
  try {
    // Never over what is there: the data that was sealed with it could not be opened any more.
    writeFileSync(file, lines.join(''), { mode: 0o600, flag: 'wx' });
    console.log(`${file} is written`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    console.log(`${file} is there already and stays as it is`);
  }
}
