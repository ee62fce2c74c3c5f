import type { Mode } from './credentials.js';
import { eventType } from './envelope.js';

/** 0: the site is not under attack. 1 to 3: the payment page shows a challenge, which is harder with each level. */
export type AttackLevel = 0 | 1 | 2 | 3;

/**
 * Whether stolen cards are being tested at a site. Published by payment-processor when the level changes, and again
 * before `untilUTCDate` while the attack continues. There is no event for each declined card.
 */
export interface SiteAttackLevelChanged {
  mode: Mode;
  merchantId: number;
  siteId: number;
  level: AttackLevel;
  /**
   * The level ends at this time without another event. ISO 8601 UTC.
   * @schema date-time
   */
  untilUTCDate: string;
  /** Increases by one with each event of the site and mode. A consumer ignores a version below the stored one. */
  version: number;
}
export const SiteAttackLevelChangedV1 = eventType<SiteAttackLevelChanged>('site.attack-level-changed.v1');
