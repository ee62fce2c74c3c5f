import {
  type FeeTerms,
  type MerchantChanged,
  MerchantChangedV1,
  type MerchantFeatures,
  type MerchantFees,
  type MerchantGrant,
} from '@svc/contracts';
import { invalidField } from '@svc/kernel';
import type { NewEvent } from '@svc/messaging';

/** Settings of a merchant by an administrator. */
export interface MerchantSettings {
  readonly name: string;
  readonly features: MerchantFeatures;
  /** Minimum payment of a larger invoice in cents, with `amount.editable` (P6). */
  readonly minimumAmount: number;
  readonly grants: MerchantGrant[];
  /** By mode (M5). */
  readonly fees: MerchantFees;
}

export interface Merchant extends MerchantSettings {
  readonly merchantId: number;
  readonly createdAt: Date;
  readonly version: number;
}

/** Normalised settings: a fixed order of members, without empty ones. Throws for two grants of one partner. */
export function normaliseMerchantSettings({
  name,
  features,
  minimumAmount,
  grants,
  fees,
}: MerchantSettings): MerchantSettings {
  const normalised = grants
    .map(({ organisationId, vouchers, externalPayments }) => ({
      organisationId: organisationId.toLowerCase(),
      vouchers,
      externalPayments,
    }))
    .filter(({ vouchers, externalPayments }) => vouchers || externalPayments);
  if (new Set(normalised.map(({ organisationId }) => organisationId)).size < normalised.length)
    throw invalidField('grants', 'grants must name each organisation once');
  return { name, features: normaliseFeatures(features), minimumAmount, grants: normalised, fees: normaliseFees(fees) };
}

function normaliseFees({ test, live }: MerchantFees): MerchantFees {
  const terms = ({ basisPoints, fixedAmount }: FeeTerms): FeeTerms => ({ basisPoints, fixedAmount });
  return { ...(test ? { test: terms(test) } : {}), ...(live ? { live: terms(live) } : {}) };
}

function normaliseFeatures({ amount, orderReference, tip }: MerchantFeatures): MerchantFeatures {
  return {
    ...(amount ? { amount: withoutEmpty({ editable: amount.editable }) } : {}),
    ...(orderReference
      ? {
          orderReference: withoutEmpty({
            label: orderReference.label,
            editable: orderReference.editable,
            required: orderReference.required,
          }),
        }
      : {}),
    ...(tip ? { tip: withoutEmpty({ enabled: tip.enabled }) } : {}),
  };
}

function withoutEmpty<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/** The event for the other services. */
export function merchantChanged(merchant: Merchant): NewEvent<MerchantChanged> {
  const { merchantId, name, features, minimumAmount, grants, fees, version } = merchant;
  return {
    type: MerchantChangedV1,
    aggregateId: String(merchantId),
    aggregateVersion: version,
    payload: { merchantId, name, features, minimumAmount, grants, fees },
  };
}
