import { DomainError } from '@svc/kernel';
import { type EntityManager, MoreThan } from 'typeorm';
import type { Merchant, MerchantSettings } from './merchant.js';
import { MerchantRow } from './merchant.row.js';

export const MERCHANT_PAGE_SIZE = 50;

/**
 * Throws `resource.not-found`. Every change of a merchant, its sites or its keys takes this lock first, so these changes are
 * serialised: a site is never published with an old name, and two new keys are never both primary.
 */
export async function lockMerchant(tx: EntityManager, merchantId: number): Promise<Merchant> {
  // No stronger lock: other transactions may insert rows that refer to the merchant (audit log).
  const merchant = await tx.findOne(MerchantRow, { where: { merchantId }, lock: { mode: 'for_no_key_update' } });
  if (!merchant) throw new DomainError('resource.not-found');
  return merchant;
}

/** Throws `resource.not-found`. */
export async function getMerchant(tx: EntityManager, merchantId: number): Promise<Merchant> {
  const merchant = await tx.findOneBy(MerchantRow, { merchantId });
  if (!merchant) throw new DomainError('resource.not-found');
  return merchant;
}

/** At most {@link MERCHANT_PAGE_SIZE} merchants with a higher id than `after`, ordered by id. */
export function listMerchants(tx: EntityManager, after: number): Promise<Merchant[]> {
  return tx.find(MerchantRow, {
    where: { merchantId: MoreThan(after) },
    order: { merchantId: 'ASC' },
    take: MERCHANT_PAGE_SIZE,
  });
}

/** Returns its id. */
export async function insertMerchant(tx: EntityManager, merchant: Omit<Merchant, 'merchantId'>): Promise<number> {
  const { identifiers } = await tx.insert(MerchantRow, merchant);
  return (identifiers[0] as { merchantId: number }).merchantId;
}

export async function updateMerchant(
  tx: EntityManager,
  merchantId: number,
  change: MerchantSettings & { readonly version: number },
): Promise<void> {
  await tx.update(MerchantRow, { merchantId }, change);
}
