import { randomBytes } from 'node:crypto';
import { OWNER_ONLY, readJson, writeAtomically } from './files.ts';
import { MESSAGING_SERVICES, type MessagingService } from '../../../libs/contracts/src/service-messages.ts';
import { SERVICES, type Service } from './settings.ts';
import { SvcError } from './svc-error.ts';

const SEALING_SERVICES = ['identity', 'payment-processor', 'webhook-dispatcher'] as const;

export interface Secrets {
  /** Of PostgreSQL's superuser. */
  readonly postgresPassword: string;
  /** Of the administrator of a RabbitMQ of our own. */
  readonly rabbitMqPassword: string;
  /** Of each service's RabbitMQ user. */
  readonly brokerPasswords: Readonly<Record<MessagingService, string>>;
  /** Of the database role that each service runs as. */
  readonly rolePasswords: Readonly<Record<Service, string>>;
  /** Of the role that owns each service's schema and runs its migrations. */
  readonly ownerPasswords: Readonly<Record<Service, string>>;
  /** For the administration API: `svc_admin_` and 32 random bytes, base64url. */
  readonly adminKey: string;
  /** 32 random bytes each, base64url: what these services encrypt secrets at rest with. */
  readonly sealingKeys: Readonly<Record<(typeof SEALING_SERVICES)[number], string>>;
}

/** The secrets of this copy, made once and kept: without them the stored data cannot be opened any more. */
export function loadSecrets(file: string): Secrets {
  const known = readJson(file);
  const secrets = completeSecrets(known, () => randomBytes(32).toString('base64url'));
  if (JSON.stringify(known) !== JSON.stringify(secrets)) {
    writeAtomically(file, `${JSON.stringify(secrets, null, 2)}\n`, OWNER_ONLY);
  }
  return secrets;
}

/** Keeps every secret that is known and makes only those that are missing: a service that is new gets its own. */
export function completeSecrets(known: unknown, makeSecret: () => string): Secrets {
  const kept = (known ?? {}) as Partial<Secrets>;
  const keep = (value: unknown, prefix = '') => {
    if (value === undefined) return prefix + makeSecret();
    if (typeof value === 'string' && /^[\w-]{20,200}$/.test(value)) return value;
    throw new SvcError('secrets.json holds a secret that was not made by ./svc', {
      hint: 'restore it, or move the whole data folder away to start anew',
    });
  };
  const keepAll = <Name extends string>(names: readonly Name[], known: Partial<Record<Name, unknown>> = {}) =>
    Object.fromEntries(names.map((name) => [name, keep(known[name])])) as Record<Name, string>;
  return {
    postgresPassword: keep(kept.postgresPassword),
    rabbitMqPassword: keep(kept.rabbitMqPassword),
    brokerPasswords: keepAll(MESSAGING_SERVICES, kept.brokerPasswords),
    rolePasswords: keepAll(SERVICES, kept.rolePasswords),
    ownerPasswords: keepAll(SERVICES, kept.ownerPasswords),
    adminKey: keep(kept.adminKey, 'svc_admin_'),
    sealingKeys: keepAll(SEALING_SERVICES, kept.sealingKeys),
  };
}
