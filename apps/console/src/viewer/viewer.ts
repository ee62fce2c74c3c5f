import { createHmac, timingSafeEqual } from 'node:crypto';
import {
  CONFIRMATION_MS,
  type Mode,
  type OperatorRole,
  type PersonActor,
  type PersonSession,
  type Right,
  sitesWithRight,
} from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import type { Texts } from '../languages/en/en.js';
import type { MerchantClock } from '../languages/format.js';
import type { KnownMerchant } from '../merchants/merchant.repository.js';
import type { PaymentScope } from './payment-scope.js';

/** A person who is signed in. */
export interface Viewer {
  readonly session: PersonSession;
  readonly actor: PersonActor;
  /** Every form of the page contains it. Another site cannot know it. */
  readonly csrfToken: string;
  readonly texts: Texts;
}

/** An operator of the platform. */
export interface OperatorViewer extends Viewer {
  readonly operatorRole: OperatorRole;
}

/** A person who looks at one merchant in one mode. */
export interface MerchantViewer extends Viewer {
  readonly merchant: KnownMerchant;
  readonly mode: Mode;
  /** The merchant's own days and times. */
  readonly clock: MerchantClock;
  /** The sites at which the person has the right that the page needs. */
  readonly scope: PaymentScope;
  /** Whether the person has a right at the merchant, or at the site. */
  readonly can: (right: Right, siteId?: number) => boolean;
}

/** Whether the person has a right at one site of the merchant or more. */
export function canAnywhere(
  { session, merchant }: Pick<MerchantViewer, 'session' | 'merchant'>,
  right: Right,
): boolean {
  return sitesWithRight(session.roles, right, merchant.merchantId).length > 0;
}

/** Whether the person has a right at all sites of the page. */
export function canEverywhere({ scope, can }: Pick<MerchantViewer, 'scope' | 'can'>, right: Right): boolean {
  return scope.sites === 'all' ? can(right) : scope.sites.every((siteId) => can(right, siteId));
}

/** Whether the person may do something sensitive without a new confirmation. */
export function isConfirmed({ session }: Pick<Viewer, 'session'>, now: Date): boolean {
  return now.getTime() - Date.parse(session.authenticatedUTCDate) < CONFIRMATION_MS;
}

/** Throws `authentication.required`, which leads to the page of the confirmation. */
export function requireConfirmation(viewer: Pick<Viewer, 'session'>, now: Date): void {
  if (!isConfirmed(viewer, now)) throw new DomainError('authentication.required');
}

/** A token for the forms of one session. It is derived from the secret of the cookie, so nothing has to be stored. */
export function createCsrfToken(sessionToken: string): string {
  return createHmac('sha256', sessionToken).update('forms of the console').digest('base64url');
}

export function isCsrfToken(viewer: Pick<Viewer, 'csrfToken'>, token: unknown): boolean {
  if (typeof token !== 'string') return false;
  const [given, expected] = [Buffer.from(token), Buffer.from(viewer.csrfToken)];
  return given.length === expected.length && timingSafeEqual(given, expected);
}
