import { DomainError } from '@svc/kernel';
import { type EntityManager, MoreThan } from 'typeorm';
import type { Merchant, MerchantSettings } from './merchant.js';
import { MerchantRow } from './merchant.row.js';

export const MERCHANT_PAGE_SIZE = 50;

/**
 * Locks a merchant until the end of the transaction. Every change of a merchant, its sites or its keys begins with this
 * lock, so that these changes run one after the other. Without the lock, a site could be published with an old merchant
 * name, and two new keys could both become primary. Throws `resource.not-found`.
 */
export async function lockMerchant(tx: EntityManager, merchantId: number): Promise<Merchant> {
  // A stronger lock would block other transactions that insert rows with a foreign key to the merchant.
  const merchant = await tx.findOne(MerchantRow, { where: { merchantId }, lock: { mode: 'for_no_key_update' } });
  if (!merchant) throw createNotFoundError(merchantId);
  return merchant;
}

/** Throws `resource.not-found`. */
export async function getMerchant(tx: EntityManager, merchantId: number): Promise<Merchant> {
  const merchant = await tx.findOneBy(MerchantRow, { merchantId });
  if (!merchant) throw createNotFoundError(merchantId);
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

/** Returns the id of the new merchant. */
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

function createNotFoundError(merchantId: number): DomainError {
  return new DomainError('resource.not-found', { message: `There is no merchant ${merchantId}.` });
}
