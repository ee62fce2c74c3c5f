import { Injectable } from '@nestjs/common';
import { DomainError } from '@svc/kernel';
import { hashPassword, isPassword } from './password.js';

/** Each hash uses 19 MiB and one of the few threads that also read files and resolve names. */
const MAX_CONCURRENT = 2;
/** About two seconds of work; further requests are rejected and may be retried. */
const MAX_WAITING = 100;
/** So that a burst of one organisation leaves most of the queue to the others. */
const MAX_WAITING_PER_ORGANISATION = 25;

interface Waiting {
  readonly organisationId: string;
  readonly start: () => void;
}

/** Hashes and compares passwords, few at a time: a burst of logins must not use up the memory or the threads of the process. */
@Injectable()
export class PasswordQueue {
  private running = 0;
  private readonly waiting: Waiting[] = [];

  /** Throws `service.not-ready` when too many wait. */
  hash(organisationId: string, password: string): Promise<string> {
    return this.enqueue(organisationId, () => hashPassword(password));
  }

  /** Throws `service.not-ready` when too many wait. */
  matches(organisationId: string, password: string, passwordHash: string): Promise<boolean> {
    return this.enqueue(organisationId, () => isPassword(password, passwordHash));
  }

  private async enqueue<T>(organisationId: string, work: () => Promise<T>): Promise<T> {
    if (this.running >= MAX_CONCURRENT) {
      const waitingOfOrganisation = this.waiting.filter((one) => one.organisationId === organisationId).length;
      if (this.waiting.length >= MAX_WAITING || waitingOfOrganisation >= MAX_WAITING_PER_ORGANISATION)
        throw new DomainError('service.not-ready', { retryAfterSeconds: 2 });
      // A finished job passes its slot to the first waiting one, so that later jobs cannot overtake it.
      await new Promise<void>((resolve) => this.waiting.push({ organisationId, start: resolve }));
    } else this.running++;
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next) next.start();
      else this.running--;
    }
  }
}
