import { DomainError } from '@svc/kernel';

/** A further condition for readiness, for example that a key has arrived. */
export abstract class ReadinessCheck {
  /** A description of what is missing, or undefined. */
  abstract missing(): Promise<string | undefined>;
}

export function notReady(missing: string): DomainError {
  return new DomainError('service.not-ready', { message: `Not ready: ${missing}.`, retryAfterSeconds: 1 });
}
