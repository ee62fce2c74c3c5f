import { randomBytes } from 'node:crypto';
import { MESSAGING_SERVICES, type MessagingService } from '../../../libs/contracts/src/service-messages.ts';
import { OWNER_ONLY, readJson, writeAtomically } from '../base/files.ts';
import { SvcError } from '../base/svc-error.ts';
import { type Service, SERVICES } from './settings.ts';

/** Each is also a setting of the platform for test mode of Adyen. */
const ADYEN_EMULATOR_SECRETS = ['apiKey', 'hmacKey', 'webhookPassword', 'reportPassword'] as const;
const SEALING_SERVICES = ['identity', 'payment-processor', 'webhook-dispatcher'] as const;

export interface Secrets {
  /** PostgreSQL's superuser. */
  readonly postgresPassword: string;
  /** The administrator of the RabbitMQ that ./svc starts. */
  readonly rabbitMqPassword: string;
  /** Each service's RabbitMQ user. */
  readonly brokerPasswords: Readonly<Record<MessagingService, string>>;
  /** Each service's database role. */
  readonly rolePasswords: Readonly<Record<Service, string>>;
  /** The role that owns each service's schema and runs its migrations. */
  readonly ownerPasswords: Readonly<Record<Service, string>>;
  /** For the administration API: `svc_admin_` and 32 random bytes, base64url. */
  readonly adminKey: string;
  /** The keys with which services encrypt stored secrets: 32 random bytes each, base64url. */
  readonly sealingKeys: Readonly<Record<(typeof SEALING_SERVICES)[number], string>>;
  /** The key with which hosted-gateway signs the challenges of payment pages: 32 random bytes, base64url. */
  readonly challengeKey: string;
  /** The key with which payment-processor hashes card numbers: 32 random bytes, base64url. */
  readonly cardFingerprintKey: string;
  /** Secrets of the platform and the emulator of Adyen: 32 random bytes each, as base64url. */
  readonly adyenEmulator: Readonly<Record<(typeof ADYEN_EMULATOR_SECRETS)[number], string>>;
}

/** The secrets of this data folder, generated only once: without them the stored data is unreadable. */
export function loadSecrets(file: string): Secrets {
  const stored = readJson(file);
  const secrets = completeSecrets(stored, () => randomBytes(32).toString('base64url'));
  if (JSON.stringify(stored) !== JSON.stringify(secrets)) {
    writeAtomically(file, `${JSON.stringify(secrets, null, 2)}\n`, OWNER_ONLY);
  }
  return secrets;
}

/** Generates only the missing secrets, for example those of a new service. */
export function completeSecrets(content: unknown, generate: () => string): Secrets {
  const stored = (content ?? {}) as Partial<Secrets>;
  const complete = (value: unknown, prefix = '') => {
    if (value === undefined) return prefix + generate();
    if (typeof value === 'string' && /^[\w-]{20,200}$/.test(value)) return value;
    throw new SvcError('secrets.json contains a secret that ./svc has not generated', {
      hint: 'restore it, or remove the whole data folder to start again',
    });
  };
  const completeAll = <Name extends string>(names: readonly Name[], values: Partial<Record<Name, unknown>> = {}) =>
    Object.fromEntries(names.map((name) => [name, complete(values[name])])) as Record<Name, string>;
  return {
    postgresPassword: complete(stored.postgresPassword),
    rabbitMqPassword: complete(stored.rabbitMqPassword),
    brokerPasswords: completeAll(MESSAGING_SERVICES, stored.brokerPasswords),
    rolePasswords: completeAll(SERVICES, stored.rolePasswords),
    ownerPasswords: completeAll(SERVICES, stored.ownerPasswords),
    adminKey: complete(stored.adminKey, 'svc_admin_'),
    sealingKeys: completeAll(SEALING_SERVICES, stored.sealingKeys),
    challengeKey: complete(stored.challengeKey),
    cardFingerprintKey: complete(stored.cardFingerprintKey),
    adyenEmulator: completeAll(ADYEN_EMULATOR_SECRETS, stored.adyenEmulator),
  };
}
