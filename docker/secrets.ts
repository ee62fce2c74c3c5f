/**
 * `node docker/secrets.ts`: writes the secrets that docker/compose.yaml needs to docker/.env, which only its owner can
 * read.
 */
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
  'CONSOLE_RABBITMQ_PASSWORD',
  'IDENTITY_DATABASE_PASSWORD',
  'PAYMENT_PROCESSOR_DATABASE_PASSWORD',
  'HOSTED_GATEWAY_DATABASE_PASSWORD',
  'WEBHOOK_DISPATCHER_DATABASE_PASSWORD',
  'DEMO_SHOP_DATABASE_PASSWORD',
  'CODE_DECODER_DATABASE_PASSWORD',
  'PAYMENT_HISTORY_DATABASE_PASSWORD',
  'MERCHANT_RETRIEVAL_DATABASE_PASSWORD',
  'CONSOLE_DATABASE_PASSWORD',
  'IDENTITY_OWNER_PASSWORD',
  'PAYMENT_PROCESSOR_OWNER_PASSWORD',
  'HOSTED_GATEWAY_OWNER_PASSWORD',
  'WEBHOOK_DISPATCHER_OWNER_PASSWORD',
  'DEMO_SHOP_OWNER_PASSWORD',
  'CODE_DECODER_OWNER_PASSWORD',
  'PAYMENT_HISTORY_OWNER_PASSWORD',
  'MERCHANT_RETRIEVAL_OWNER_PASSWORD',
  'CONSOLE_OWNER_PASSWORD',
  'ADMIN_KEY',
  'CODE_PROVIDER_KEY',
  'IDENTITY_SEALING_KEY',
  'PAYMENT_PROCESSOR_SEALING_KEY',
  'CARD_FINGERPRINT_KEY',
  'WEBHOOK_DISPATCHER_SEALING_KEY',
  'HOSTED_GATEWAY_CHALLENGE_KEY',
] as const;

/**
 * Each secret is 32 random bytes as base64url, which is valid in a URL, in an environment file and as a sealing key.
 */
export function createSecrets(): Record<(typeof COMPOSE_SECRETS)[number], string> {
  return Object.fromEntries(COMPOSE_SECRETS.map((name) => [name, randomBytes(32).toString('base64url')])) as ReturnType<
    typeof createSecrets
  >;
}

/**
 * Adds missing secrets to the text of an existing file. Existing secrets do not change, because data is encrypted
 * with them.
 */
export function addMissingSecrets(existing: string): string {
  const missing = Object.entries(createSecrets()).filter(([name]) => !new RegExp(`^${name}=`, 'm').test(existing));
  return existing + missing.map(([name, value]) => `${name}=${value}\n`).join('');
}

if (import.meta.main) {
  const file = join(import.meta.dirname, '.env');
  // Create the folder that compose mounts. Otherwise Docker would create it with the owner root.
  mkdirSync(join(import.meta.dirname, 'demo'), { recursive: true });
  const known = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const text = addMissingSecrets(known);
  if (text !== known) writeFileSync(file, text, { mode: 0o600 });
  console.log(text === known ? `${file} is complete and unchanged` : `${file} is written`);
}
