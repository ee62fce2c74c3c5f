import {
  type FeeTerms,
  MAX_TIME_ZONE_PERIODS,
  type MerchantChanged,
  MerchantChangedV1,
  type MerchantFeatures,
  type MerchantFees,
  type MerchantGrant,
  type TimeZonePeriod,
} from '@svc/contracts';
import { invalidField } from '@svc/kernel';
import type { NewEvent } from '@svc/messaging';

/** Settings of a merchant that an administrator can change. */
export interface MerchantSettings {
  readonly name: string;
  readonly features: MerchantFeatures;
  /**
   * Minimum amount of a payment in cents. It applies if the feature `amount.editable` allows payers to pay less than
   * the invoice (P6).
   */
  readonly minimumAmount: number;
  /**
   * Maximum amount of a payment in cents. It applies if the feature `amount.editable` allows payers to pay more than the
   * invoice (P6). Null means ten times the amount due, but at most R 50 000.
   */
  readonly maximumAmount: number | null;
  readonly grants: MerchantGrant[];
  /** The fees of each mode (M5). */
  readonly fees: MerchantFees;
  /** The time zones of the merchant's days: past ones, the present one, and one that begins at the next midnight (M7). */
  readonly timeZones: TimeZonePeriod[];
}

export interface Merchant extends MerchantSettings {
  readonly merchantId: number;
  readonly createdAt: Date;
  readonly version: number;
}

/**
 * Returns the settings with their members in a fixed order. Omits members that are null, and grants without a
 * permission. Throws `request.invalid` for two grants of one organisation, for a maximum amount below the minimum amount,
 * and for too many time zones.
 */
export function normaliseMerchantSettings({
  name,
  features,
  minimumAmount,
  maximumAmount,
  grants,
  fees,
  timeZones,
}: MerchantSettings): MerchantSettings {
  const normalisedGrants = grants
    .map(({ organisationId, vouchers, externalPayments }) => ({
      organisationId: organisationId.toLowerCase(),
      vouchers,
      externalPayments,
    }))
    .filter(({ vouchers, externalPayments }) => vouchers || externalPayments);
  if (new Set(normalisedGrants.map(({ organisationId }) => organisationId)).size < normalisedGrants.length)
    throw invalidField('grants', 'grants must name each organisation once');
  if (maximumAmount !== null && maximumAmount < minimumAmount)
    throw invalidField('maximumAmount', 'maximumAmount must not be less than minimumAmount');
  if (timeZones.length > MAX_TIME_ZONE_PERIODS)
    throw invalidField('timeZone', `timeZone must not change more than ${MAX_TIME_ZONE_PERIODS - 1} times`);
  return {
    name,
    features: normaliseFeatures(features),
    minimumAmount,
    maximumAmount,
    grants: normalisedGrants,
    fees: normaliseFees(fees),
    timeZones: timeZones.map(({ zone, from }) => ({ zone, ...(from === undefined ? {} : { from }) })),
  };
}

function normaliseFees({ test, live }: MerchantFees): MerchantFees {
  const copyTerms = ({ basisPoints, fixedAmount }: FeeTerms): FeeTerms => ({ basisPoints, fixedAmount });
  return { ...(test ? { test: copyTerms(test) } : {}), ...(live ? { live: copyTerms(live) } : {}) };
}

function normaliseFeatures({ amount, orderReference, tip }: MerchantFeatures): MerchantFeatures {
  return {
    ...(amount ? { amount: omitNulls({ editable: amount.editable }) } : {}),
    ...(orderReference
      ? {
          orderReference: omitNulls({
            label: orderReference.label,
            editable: orderReference.editable,
            required: orderReference.required,
          }),
        }
      : {}),
    ...(tip ? { tip: omitNulls({ enabled: tip.enabled }) } : {}),
  };
}

function omitNulls<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/** The event for other services. */
export function merchantChanged(merchant: Merchant): NewEvent<MerchantChanged> {
  const { merchantId, name, features, minimumAmount, maximumAmount, grants, fees, timeZones, version } = merchant;
  return {
    type: MerchantChangedV1,
    aggregateId: String(merchantId),
    aggregateVersion: version,
    payload: {
      ...{ merchantId, name, features, minimumAmount, grants, fees, timeZones },
      ...(maximumAmount === null ? {} : { maximumAmount }),
    },
  };
}
