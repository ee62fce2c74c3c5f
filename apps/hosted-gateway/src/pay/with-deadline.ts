import { DomainError } from '@svc/kernel';

/** @throws DomainError `service.not-ready` if the promise is not settled in time. Its result is then ignored. */
export async function withDeadline<T>(promise: Promise<T>, milliseconds: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DomainError('service.not-ready', { retryAfterSeconds: 1 })), milliseconds);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
