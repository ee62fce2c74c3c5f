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

/** What an administrator decides about a merchant. */
export interface MerchantSettings {
  readonly name: string;
  readonly features: MerchantFeatures;
  /** Cents: the least a payer may pay of a larger invoice where `amount.editable` (P6). */
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

/** Settings as they are kept: members in one order, none that says nothing. Refuses two grants for one partner. */
export function settleMerchant({ name, features, minimumAmount, grants, fees }: MerchantSettings): MerchantSettings {
  const settled = grants
    .map(({ organisationId, vouchers, externalPayments }) => ({
      organisationId: organisationId.toLowerCase(),
      vouchers,
      externalPayments,
    }))
    .filter(({ vouchers, externalPayments }) => vouchers || externalPayments);
  if (new Set(settled.map(({ organisationId }) => organisationId)).size < settled.length)
    throw invalidField('grants', 'grants must name each organisation once');
  return { name, features: settleFeatures(features), minimumAmount, grants: settled, fees: settleFees(fees) };
}

function settleFees({ test, live }: MerchantFees): MerchantFees {
  const terms = ({ basisPoints, fixedAmount }: FeeTerms): FeeTerms => ({ basisPoints, fixedAmount });
  return { ...(test ? { test: terms(test) } : {}), ...(live ? { live: terms(live) } : {}) };
}

function settleFeatures({ amount, orderReference, tip }: MerchantFeatures): MerchantFeatures {
  return {
    ...(amount ? { amount: present({ editable: amount.editable }) } : {}),
    ...(orderReference
      ? {
          orderReference: present({
            label: orderReference.label,
            editable: orderReference.editable,
            required: orderReference.required,
          }),
        }
      : {}),
    ...(tip ? { tip: present({ enabled: tip.enabled }) } : {}),
  };
}

function present<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/** What other services are told of a merchant. */
export function merchantChanged(merchant: Merchant): NewEvent<MerchantChanged> {
  const { merchantId, name, features, minimumAmount, grants, fees, version } = merchant;
  return {
    type: MerchantChangedV1,
    aggregateId: String(merchantId),
    aggregateVersion: version,
    payload: { merchantId, name, features, minimumAmount, grants, fees },
  };
}
