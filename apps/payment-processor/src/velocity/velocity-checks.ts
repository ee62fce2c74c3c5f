import { Inject, Injectable } from '@nestjs/common';
import type { Mode } from '@svc/contracts';
import { Clock, newUuid, newUuidAt, TtlCache } from '@svc/kernel';
import { PaymentProcessorConfig } from '../config.js';
import { type CardFingerprint, CardFingerprints } from './card-fingerprints.js';
import { RecentApprovals } from './recent-approvals.js';
import { counterKey } from './velocity-keys.js';
import {
  isEnabledByDefault,
  MAX_IN_FLIGHT_MS,
  type VelocityLimits,
  type VelocityPolicy,
  type VelocityScope,
  windowLimitOf,
} from './velocity-limits.js';
import { type ConfiguredPolicy, VelocityPolicyRepository } from './velocity-policy.repository.js';

/**
 * When a payment is counted as in flight. `always`; `unlessBusy`: not if the range or partner has so much regular trade that
 * its payments would wait for each other ({@link VelocityCheck.busyFrom}); `attack`: only while the site is under attack. A
 * closed counter always refuses.
 */
type CheckCondition = 'always' | 'unlessBusy' | 'attack';

/** One limit that a payment must keep, as the statement that accepts payments reads it. Times are ISO 8601 UTC. */
export interface VelocityCheck {
  readonly key: string;
  /** Counter of the same card with the other key, while the keys are rotated. */
  readonly otherKey?: string | undefined;
  readonly condition: CheckCondition;
  readonly limit: number;
  readonly since: string;
  readonly longLimit?: number | undefined;
  readonly longSince?: string | undefined;
  readonly credit: number;
  /** Approvals from which a counter is busy. Then payments in flight are counted only if half of its limit is used. */
  readonly busyFrom?: number | undefined;
  readonly now: string;
  /** Payments with a smaller id began too long ago to count as in flight. */
  readonly oldestInFlight: string;
}

/** The checks of one payment, before it is accepted. */
export interface PaymentChecks {
  /** Id of the payment. The counters contain it while the payment is in flight. */
  readonly paymentId: string;
  readonly checks: readonly VelocityCheck[];
  /** All counters that the outcome of the payment changes, except that of the site. */
  readonly keys: readonly string[];
}

/** A partner's server has no address that counts: its organisation counts instead. */
export type VelocityPayer = { readonly address: string | undefined } | { readonly organisationId: string };

/** Whose payment it is, and where. A card that is stored has no merchant and no site, and the default limits. */
export interface VelocitySubject {
  readonly mode: Mode;
  readonly merchantId?: number;
  readonly siteId?: number;
  readonly payer: VelocityPayer;
}

/**
 * A range or partner is busy from this multiple of the charges that one process makes at the same time. Then half of its
 * limit is more than the simultaneous charges of two processes, so that a burst of them does not exceed the limit.
 */
const BUSY_FACTOR = 4;

/** Builds the checks of a payment from its card, its site and its payer. The statements of payments run them. */
@Injectable()
export class VelocityChecks {
  private readonly policies: TtlCache<VelocityPolicy>;
  private readonly defaultLimits: VelocityLimits;

  constructor(
    @Inject(CardFingerprints) private readonly fingerprints: CardFingerprints,
    @Inject(VelocityPolicyRepository) private readonly repository: VelocityPolicyRepository,
    @Inject(RecentApprovals) private readonly recentApprovals: RecentApprovals,
    @Inject(PaymentProcessorConfig) private readonly config: PaymentProcessorConfig,
    @Inject(Clock) private readonly clock: Clock,
  ) {
    this.policies = new TtlCache(clock);
    this.defaultLimits = limitsFromConfig(config);
  }

  /** The merchant's limits. A change by an administrator applies within a second. */
  async findPolicy(merchantId: number | undefined, mode: Mode): Promise<VelocityPolicy> {
    if (merchantId === undefined) return this.policyOf(mode, undefined);
    const cached = await this.policies.find(`${merchantId} ${mode}`, () => this.readPolicy(merchantId, mode));
    return cached ?? this.readPolicy(merchantId, mode);
  }

  private async readPolicy(merchantId: number, mode: Mode): Promise<VelocityPolicy> {
    return this.policyOf(mode, await this.repository.find(merchantId, mode));
  }

  private policyOf(mode: Mode, own: ConfiguredPolicy | undefined): VelocityPolicy {
    const enabledInTestMode = this.config.SVC_VELOCITY_LIMITS_TEST === 'on';
    return {
      enabled: own?.enabled ?? isEnabledByDefault(mode, enabledInTestMode),
      limits: { ...this.defaultLimits, ...own?.limits },
    };
  }

  /**
   * Undefined while the limits of the merchant are off.
   *
   * @param paymentId of a payment that is already accepted, without a charge
   */
  async build(
    subject: VelocitySubject,
    card: CardFingerprint,
    paymentId = newUuid(this.clock),
  ): Promise<PaymentChecks | undefined> {
    const { mode, payer } = subject;
    const policy = await this.findPolicy(subject.merchantId, mode);
    if (!policy.enabled) return undefined;
    const otherKey = card.otherCard === undefined ? undefined : counterKey('card', card.otherCard);
    const subjects = [
      { scope: 'card', key: counterKey('card', card.card), condition: 'always' },
      { scope: 'range', key: counterKey('range', rangeOwnerOf(subject), card.range), condition: 'unlessBusy' },
      ...this.payerSubjects(mode, payer),
    ] as const satisfies readonly CheckedSubject[];
    const checks = subjects.map((checked) => this.buildCheck(checked, policy.limits, otherKey));
    const [first, ...others] = subjects.map(({ key }) => key);
    return { paymentId, checks, keys: [first!, ...(otherKey === undefined ? [] : [otherKey]), ...others] };
  }

  private buildCheck(
    { scope, key, condition }: CheckedSubject,
    limits: VelocityLimits,
    otherKey: string | undefined,
  ): VelocityCheck {
    const now = this.clock.now();
    const credit = scope === 'card' ? 0 : this.recentApprovals.count(key);
    const { limit, since, longLimit, longSince } = windowLimitOf(scope, limits, now, credit);
    return {
      ...{ key, condition, limit, credit, longLimit },
      otherKey: scope === 'card' ? otherKey : undefined,
      since: since.toISOString(),
      longSince: longSince?.toISOString(),
      busyFrom: condition === 'unlessBusy' ? BUSY_FACTOR * this.config.SVC_ACQUIRER_CONCURRENCY : undefined,
      now: now.toISOString(),
      oldestInFlight: oldestUuidAt(new Date(now.getTime() - MAX_IN_FLIGHT_MS)),
    };
  }

  private payerSubjects(mode: Mode, payer: VelocityPayer): CheckedSubject[] {
    if ('organisationId' in payer) {
      const key = counterKey('organisation', mode, payer.organisationId);
      return [{ scope: 'organisation', key, condition: 'unlessBusy' }];
    }
    const { fingerprints } = this;
    const hash = fingerprints.ofAddress(mode, payer.address ?? '') ?? fingerprints.ofUnknownAddress(mode);
    return [{ scope: 'address', key: counterKey('address', hash), condition: 'attack' }];
  }
}

interface CheckedSubject {
  readonly scope: Exclude<VelocityScope, 'site'>;
  readonly key: string;
  readonly condition: CheckCondition;
}

const rangeOwnerOf = ({ mode, siteId, payer }: VelocitySubject): string =>
  'organisationId' in payer ? payer.organisationId : `${mode}:${siteId}`;

/** The smallest UUID of version 7 with this time. */
export function oldestUuidAt(time: Date): string {
  return `${newUuidAt(time).slice(0, 14)}7000-8000-000000000000`;
}

function limitsFromConfig(config: PaymentProcessorConfig): VelocityLimits {
  return {
    cardDeclinesPerDay: config.SVC_VELOCITY_CARD_DAY,
    cardDeclinesPer30Days: config.SVC_VELOCITY_CARD_30_DAYS,
    rangeDeclinesPerHour: config.SVC_VELOCITY_RANGE_HOUR,
    addressDeclinesPerHour: config.SVC_VELOCITY_ADDRESS_HOUR,
    organisationDeclinesPerHour: config.SVC_VELOCITY_ORGANISATION_HOUR,
    siteDeclinesPer10Minutes: config.SVC_VELOCITY_SITE_10_MINUTES,
    siteDeclinesPerDay: config.SVC_VELOCITY_SITE_DAY,
  };
}
