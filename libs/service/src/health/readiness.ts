import { DomainError } from '@svc/kernel';

/** A further condition for readiness, e.g. a key that has to arrive. */
export abstract class ReadinessCheck {
  /** A description of what is missing, or undefined. */
  abstract missing(): Promise<string | undefined>;
}

export function notReady(missing: string): DomainError {
  return new DomainError('service.not-ready', { message: `Not ready: ${missing}.`, retryAfterSeconds: 1 });
}
