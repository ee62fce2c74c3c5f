import { Injectable } from '@nestjs/common';
import { DomainError } from '@svc/kernel';
import { hashPassword, isPassword } from './password.js';

/** Each takes 19 MiB and a thread of the few that files and names are read with, too. */
const AT_ONCE_MAX = 2;
/** About two seconds of work; whoever comes then is told to come back. */
const WAITING_MAX = 100;
/** So that a burst of one organisation leaves the others most of it. */
const WAITING_OF_ONE_MAX = 25;

interface Waiting {
  readonly organisationId: string;
  readonly goOn: () => void;
}

/** Hashes and compares passwords, few at a time: a burst of logins must not take the memory or the threads of all else. */
@Injectable()
export class PasswordQueue {
  private running = 0;
  private readonly waiting: Waiting[] = [];

  /** Throws `service.not-ready` when too many wait. */
  hash(organisationId: string, password: string): Promise<string> {
    return this.inTurn(organisationId, () => hashPassword(password));
  }

  /** Throws `service.not-ready` when too many wait. */
  matches(organisationId: string, password: string, passwordHash: string): Promise<boolean> {
    return this.inTurn(organisationId, () => isPassword(password, passwordHash));
  }

  private async inTurn<T>(organisationId: string, work: () => Promise<T>): Promise<T> {
    if (this.running >= AT_ONCE_MAX) {
      const ofThisOne = this.waiting.filter((one) => one.organisationId === organisationId).length;
      if (this.waiting.length >= WAITING_MAX || ofThisOne >= WAITING_OF_ONE_MAX)
        throw new DomainError('service.not-ready', { retryAfterSeconds: 2 });
      // Whoever ends hands its place over, so that nobody who comes later takes it.
      await new Promise<void>((resolve) => this.waiting.push({ organisationId, goOn: resolve }));
    } else this.running++;
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next) next.goOn();
      else this.running--;
    }
  }
}
