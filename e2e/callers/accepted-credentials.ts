import { waitUntil } from '@svc/testing';

/**
 * Waits until each service accepts new credentials, which it receives in an event of identity.
 * @param requests sends a request with the credentials to each service, by its name
 */
export async function waitUntilAccepted(
  requests: Readonly<Record<string, () => Promise<{ readonly status: number }>>>,
): Promise<void> {
  for (const [service, request] of Object.entries(requests))
    await waitUntil(`${service} to accept the credentials`, 10_000, async () => (await request()).status !== 401);
}
