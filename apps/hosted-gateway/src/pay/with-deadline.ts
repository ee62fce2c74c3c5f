import { DomainError } from '@svc/kernel';

/** @throws DomainError `service.not-ready` if the work takes longer. The work continues, but its result is ignored. */
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
