import { type EntityManager, IsNull } from 'typeorm';
import { lockMerchant } from '../merchants/merchant.repository.js';
import { getSite } from '../sites/site.repository.js';
import type { ApiKey, KeyOwner } from './api-key.js';
import { ApiKeyRow } from './api-key.row.js';

/** The newest keys of one owner that are listed; older ones are omitted. */
export const MAX_LISTED_KEYS = 100;

/** Throws `resource.not-found` when there is no such merchant, or no such site of it. */
export async function lockOwner(tx: EntityManager, { merchantId, siteId }: KeyOwner): Promise<void> {
  await lockMerchant(tx, merchantId);
  if (siteId !== undefined) await getSite(tx, merchantId, siteId);
}

/** The keys of exactly this owner, newest first: a merchant's do not include those of its sites. */
export function findKeys(tx: EntityManager, owner: KeyOwner): Promise<ApiKey[]> {
  return tx.find(ApiKeyRow, { where: ownedBy(owner), order: { ordinal: 'DESC' }, take: MAX_LISTED_KEYS });
}

/** The valid keys of this owner, newest first. Their number is limited at creation. */
export function findValidKeys(tx: EntityManager, owner: KeyOwner): Promise<ApiKey[]> {
  return tx.find(ApiKeyRow, { where: { ...ownedBy(owner), revokedAt: IsNull() }, order: { ordinal: 'DESC' } });
}

export function findKey(tx: EntityManager, owner: KeyOwner, keyId: string): Promise<ApiKey | null> {
  return tx.findOneBy(ApiKeyRow, { ...ownedBy(owner), keyId });
}

export async function insertKey(tx: EntityManager, key: ApiKey): Promise<void> {
  await tx.insert(ApiKeyRow, key);
}

/** Updates a key and returns its next version. */
export async function updateKey(
  tx: EntityManager,
  key: ApiKey,
  change: { isPrimary: boolean; revokedAt?: Date },
): Promise<ApiKey> {
  const changed = { ...change, version: key.version + 1 };
  const owner = { merchantId: key.merchantId, siteId: key.siteId ?? undefined };
  await tx.update(ApiKeyRow, { ...ownedBy(owner), keyId: key.keyId }, changed);
  return { ...key, ...changed };
}

function ownedBy({ merchantId, siteId }: KeyOwner) {
  return { merchantId, siteId: siteId ?? IsNull() };
}
