import { CreateSessionRequest, type HostedWarning, type Mode } from '@svc/contracts';
import { portProblemInProduction } from '@svc/kernel';
import { findMisspelledFields } from '@svc/service';

/**
 * Parts of an accepted request that probably do not do what the merchant's developer meant. The list is always empty in
 * live mode, so that the response of a tested integration never changes there.
 *
 * @param body the body as it was received, with its unknown fields
 */
export function findSessionWarnings(mode: Mode, body: unknown, request: CreateSessionRequest): HostedWarning[] {
  if (mode === 'live') return [];
  const misspelled = findMisspelledFields(CreateSessionRequest, body).map(({ field, meant }) => ({
    field,
    message: `${field} is not a field of this request and was ignored. Rename it if ${meant} is meant.`,
  }));
  // Only development accepts such a port. In production the request is refused (H6, E7).
  const port = portProblemInProduction('notificationUrl', request.notificationUrl);
  return port ? [...misspelled, port] : misspelled;
}
