/** `node docker/secrets.ts`: makes the secrets of docker/compose.yaml, once. They are in docker/.env, for its owner alone. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Every name that compose.yaml takes from its environment. */
export const COMPOSE_SECRETS = [
  'POSTGRES_PASSWORD',
  'RABBITMQ_PASSWORD',
  'IDENTITY_RABBITMQ_PASSWORD',
  'PAYMENT_PROCESSOR_RABBITMQ_PASSWORD',
  'HOSTED_GATEWAY_RABBITMQ_PASSWORD',
  'WEBHOOK_DISPATCHER_RABBITMQ_PASSWORD',
  'CODE_DECODER_RABBITMQ_PASSWORD',
  'PAYMENT_HISTORY_RABBITMQ_PASSWORD',
  'MERCHANT_RETRIEVAL_RABBITMQ_PASSWORD',
  'IDENTITY_DATABASE_PASSWORD',
  'PAYMENT_PROCESSOR_DATABASE_PASSWORD',
  'HOSTED_GATEWAY_DATABASE_PASSWORD',
  'WEBHOOK_DISPATCHER_DATABASE_PASSWORD',
  'DEMO_SHOP_DATABASE_PASSWORD',
  'CODE_DECODER_DATABASE_PASSWORD',
  'PAYMENT_HISTORY_DATABASE_PASSWORD',
  'MERCHANT_RETRIEVAL_DATABASE_PASSWORD',
  'IDENTITY_OWNER_PASSWORD',
  'PAYMENT_PROCESSOR_OWNER_PASSWORD',
  'HOSTED_GATEWAY_OWNER_PASSWORD',
  'WEBHOOK_DISPATCHER_OWNER_PASSWORD',
  'DEMO_SHOP_OWNER_PASSWORD',
  'CODE_DECODER_OWNER_PASSWORD',
  'PAYMENT_HISTORY_OWNER_PASSWORD',
  'MERCHANT_RETRIEVAL_OWNER_PASSWORD',
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

/** A file of these secrets; of one that is there, nothing changes but what it lacks: data is sealed with the rest. */
export function completed(known: string): string {
  const missing = Object.entries(makeSecrets()).filter(([name]) => !new RegExp(`^${name}=`, 'm').test(known));
  return known + missing.map(([name, value]) => `${name}=${value}\n`).join('');
}

if (import.meta.main) {
  const file = join(import.meta.dirname, '.env');
  // Made by us, or Docker would make it for its mount, and root's.
  mkdirSync(join(import.meta.dirname, 'demo'), { recursive: true });
  const known = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const text = completed(known);
  if (text !== known) writeFileSync(file, text, { mode: 0o600 });
  console.log(text === known ? `${file} is complete and stays as it is` : `${file} is written`);
}
