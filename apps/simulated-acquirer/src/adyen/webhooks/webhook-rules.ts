import type { NotificationItem } from '../state/records.js';

/** Something that the control interface does to the next webhooks that match. */
export interface WebhookRule {
  /** - `withhold`: stores it until it is released
   * - `duplicate`: sends it twice
   * - `delay`: sends it after `delayMs`
   * - `as-live`: sends it with `live: "true"`
   * - `wrong-signature`: signs it with another key */
  readonly action: 'withhold' | 'duplicate' | 'delay' | 'as-live' | 'wrong-signature';
  /** Only webhooks with this event code; by default all. */
  readonly eventCode?: string;
  /** Only webhooks with this `merchantReference`; by default all. */
  readonly merchantReference?: string;
  /** Milliseconds; only with `delay`. */
  readonly delayMs?: number;
  /** Number of webhooks; by default 1. */
  readonly times?: number;
}

/** Limit of rules that wait for a webhook. */
const MAX_RULES = 1_000;

/** Rules of the control interface. They are not stored, but the webhooks that they change are. */
export class WebhookRules {
  private rules: { readonly rule: WebhookRule; remaining: number }[] = [];

  add(rule: WebhookRule): void {
    if (this.rules.length >= MAX_RULES) this.rules.shift();
    this.rules.push({ rule, remaining: rule.times ?? 1 });
  }

  clear(): void {
    this.rules = [];
  }

  list(): WebhookRule[] {
    return this.rules.map(({ rule, remaining }) => ({ ...rule, times: remaining }));
  }

  /** Returns the rules for this webhook, and counts them as used. */
  take({ eventCode, merchantReference }: Pick<NotificationItem, 'eventCode' | 'merchantReference'>): WebhookRule[] {
    const matching = this.rules.filter(
      ({ rule }) =>
        (rule.eventCode === undefined || rule.eventCode === eventCode) &&
        (rule.merchantReference === undefined || rule.merchantReference === merchantReference),
    );
    for (const each of matching) each.remaining -= 1;
    this.rules = this.rules.filter(({ remaining }) => remaining > 0);
    return matching.map(({ rule }) => rule);
  }
}
