import { Injectable } from '@nestjs/common';
import { DomainError } from '@svc/kernel';
import { hashPassword, isPassword } from './password.js';

/** Each takes 19 MiB and a thread of the few that files and names are read with, too. */
const AT_ONCE_MAX = 2;
/** About two seconds of work; whoever comes then is told to come back. */
const WAITING_MAX = 100;

/** Hashes and compares passwords, few at a time: a burst of logins must not take the memory or the threads of all else. */
@Injectable()
export class PasswordQueue {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  /** Throws `service.not-ready` when too many wait. */
  hash(password: string): Promise<string> {
    return this.inTurn(() => hashPassword(password));
  }

  /** Throws `service.not-ready` when too many wait. */
  matches(password: string, passwordHash: string): Promise<boolean> {
    return this.inTurn(() => isPassword(password, passwordHash));
  }

  private async inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.running >= AT_ONCE_MAX) {
      if (this.waiting.length >= WAITING_MAX) throw new DomainError('service.not-ready', { retryAfterSeconds: 2 });
      // Whoever ends hands its place over, so that nobody who comes later takes it.
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    } else this.running++;
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.running--;
    }
  }
}
