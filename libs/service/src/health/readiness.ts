import { DomainError } from '@svc/kernel';

/** More that a service needs before it may be given work, e.g. a key that has to arrive. */
export abstract class ReadinessCheck {
  /** What is missing, in words, or undefined when nothing is. */
  abstract missing(): Promise<string | undefined>;
}

export function notReady(missing: string): DomainError {
  return new DomainError('service.not-ready', { message: `Not ready: ${missing}.`, retryAfterSeconds: 1 });
}
