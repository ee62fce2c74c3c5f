import { DomainError } from '@svc/kernel';

/** @throws DomainError `service.not-ready` when the work takes longer; it goes on, and nobody waits for it */
export async function withDeadline<T>(work: Promise<T>, milliseconds: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DomainError('service.not-ready', { retryAfterSeconds: 1 })), milliseconds);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
