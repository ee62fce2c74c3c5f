/** `node docker/secrets.ts`: creates the secrets of docker/compose.yaml, once, in docker/.env, readable by its owner only. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Every variable that compose.yaml reads from its environment. */
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
  'CODE_PROVIDER_KEY',
  'IDENTITY_SEALING_KEY',
  'PAYMENT_PROCESSOR_SEALING_KEY',
  'WEBHOOK_DISPATCHER_SEALING_KEY',
] as const;

/** 32 random bytes each, base64url: valid in a URL, in an environment file and as a sealing key. */
export function makeSecrets(): Record<(typeof COMPOSE_SECRETS)[number], string> {
  return Object.fromEntries(COMPOSE_SECRETS.map((name) => [name, randomBytes(32).toString('base64url')])) as ReturnType<
    typeof makeSecrets
  >;
}

/** Adds only the missing secrets to an existing file, because data is sealed with the others. */
export function withMissingSecrets(known: string): string {
  const missing = Object.entries(makeSecrets()).filter(([name]) => !new RegExp(`^${name}=`, 'm').test(known));
  return known + missing.map(([name, value]) => `${name}=${value}\n`).join('');
}

if (import.meta.main) {
  const file = join(import.meta.dirname, '.env');
  // Otherwise Docker would create it for its mount, owned by root.
  mkdirSync(join(import.meta.dirname, 'demo'), { recursive: true });
  const known = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const text = withMissingSecrets(known);
  if (text !== known) writeFileSync(file, text, { mode: 0o600 });
  console.log(text === known ? `${file} is complete and unchanged` : `${file} is written`);
}
