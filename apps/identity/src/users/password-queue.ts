import { Injectable } from '@nestjs/common';
import { DomainError } from '@svc/kernel';
import { hashPassword, isPassword } from './password.js';

/**
 * Limit of concurrent hashes. Each one uses 19 MiB, and one of the few threads of Node.js that also read files and
 * resolve names.
 */
const MAX_CONCURRENT = 2;
/** Limit of waiting jobs, which take about two seconds. Further requests are rejected and may be retried. */
const MAX_WAITING = 100;
/** Limit of waiting jobs of one organisation, so that most of the queue is left for other organisations. */
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
      // A finished job passes its slot to the first waiting job, so that later jobs cannot start before it.
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
