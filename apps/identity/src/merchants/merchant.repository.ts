import { DomainError } from '@svc/kernel';
import type { EntityManager } from 'typeorm';
import { MerchantRow } from './merchant.row.js';

/**
 * Throws `resource.not-found`. Every change of what a merchant owns begins here, so such changes run one after the
 * other: a site is never published under a name the merchant no longer has, and two new keys are never both primary.
 */
export async function lockMerchant(tx: EntityManager, merchantId: number): Promise<MerchantRow> {
  // No stronger lock: rows that refer to the merchant (entries of the audit log) can be inserted meanwhile.
  const merchant = await tx.findOne(MerchantRow, { where: { merchantId }, lock: { mode: 'for_no_key_update' } });
  if (!merchant) throw new DomainError('resource.not-found');
  return merchant;
}

/** Throws `resource.not-found`. */
export async function getMerchant(tx: EntityManager, merchantId: number): Promise<MerchantRow> {
  const merchant = await tx.findOneBy(MerchantRow, { merchantId });
  if (!merchant) throw new DomainError('resource.not-found');
  return merchant;
}
