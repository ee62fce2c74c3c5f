import { Injectable } from '@nestjs/common';
import { DomainError } from '@svc/kernel';
import { hashPassword, isPassword } from './password.js';

/**
 * Maximum number of concurrent hashes. Each hash uses 19 MiB of memory and a thread of the thread pool of Node.js. The
 * pool is small, and it also reads files and resolves host names.
 */
const MAX_CONCURRENT = 2;
/**
 * Maximum number of waiting jobs. The queue needs about two seconds for all of them. Further requests are rejected and
 * may be retried.
 */
const MAX_WAITING = 100;
/** Maximum number of waiting jobs of one organisation. Most of the queue is left for other organisations. */
const MAX_WAITING_PER_ORGANISATION = 25;

interface WaitingJob {
  readonly organisationId: string;
  readonly start: () => void;
}

/**
 * Hashes and compares passwords, at most {@link MAX_CONCURRENT} at a time. Without this limit, many concurrent logins
 * could use all memory or all threads of the process.
 */
@Injectable()
export class PasswordQueue {
  private runningCount = 0;
  private readonly waiting: WaitingJob[] = [];

  /** Throws `service.not-ready` if too many jobs are waiting. */
  hash(organisationId: string, password: string): Promise<string> {
    return this.enqueue(organisationId, () => hashPassword(password));
  }

  /** Throws `service.not-ready` if too many jobs are waiting. */
  matches(organisationId: string, password: string, passwordHash: string): Promise<boolean> {
    return this.enqueue(organisationId, () => isPassword(password, passwordHash));
  }

  private async enqueue<T>(organisationId: string, job: () => Promise<T>): Promise<T> {
    if (this.runningCount >= MAX_CONCURRENT) {
      const waitingCountOfOrganisation = this.waiting.filter(
        (waitingJob) => waitingJob.organisationId === organisationId,
      ).length;
      if (this.waiting.length >= MAX_WAITING || waitingCountOfOrganisation >= MAX_WAITING_PER_ORGANISATION)
        throw new DomainError('service.not-ready', { retryAfterSeconds: 2 });
      // A finished job passes its place to the first waiting job, so that later jobs cannot start before the waiting
      // job.
      await new Promise<void>((resolve) => this.waiting.push({ organisationId, start: resolve }));
    } else this.runningCount++;
    try {
      return await job();
    } finally {
      const next = this.waiting.shift();
      if (next) next.start();
      else this.runningCount--;
    }
  }
}
