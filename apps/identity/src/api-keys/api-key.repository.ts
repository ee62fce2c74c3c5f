import { DomainError } from '@svc/kernel';
import { isUniqueViolation } from '@svc/persistence';
import { type EntityManager, IsNull } from 'typeorm';
import { lockMerchant } from '../merchants/merchant.repository.js';
import { getSite } from '../sites/site.repository.js';
import type { ApiKey, KeyOwner } from './api-key.js';
import { ApiKeyRow } from './api-key.row.js';

/** Maximum number of keys in a list. Older keys of the owner are omitted. */
const MAX_LISTED_KEYS = 100;

/**
 * Locks the merchant until the end of the transaction. Throws `resource.not-found` if the merchant or the site does not
 * exist.
 */
export async function lockOwner(tx: EntityManager, { merchantId, siteId }: KeyOwner): Promise<void> {
  await lockMerchant(tx, merchantId);
  if (siteId !== undefined) await getSite(tx, merchantId, siteId);
}

/** The keys of this owner, newest first. The keys of a merchant do not include the keys of its sites. */
export function findKeys(tx: EntityManager, owner: KeyOwner): Promise<ApiKey[]> {
  return tx.find(ApiKeyRow, { where: ownerCondition(owner), order: { ordinal: 'DESC' }, take: MAX_LISTED_KEYS });
}

/** The valid keys of this owner, newest first. CreateApiKey limits their number. */
export function findValidKeys(tx: EntityManager, owner: KeyOwner): Promise<ApiKey[]> {
  return tx.find(ApiKeyRow, { where: { ...ownerCondition(owner), revokedAt: IsNull() }, order: { ordinal: 'DESC' } });
}

export function findKey(tx: EntityManager, owner: KeyOwner, keyId: string): Promise<ApiKey | null> {
  return tx.findOneBy(ApiKeyRow, { ...ownerCondition(owner), keyId });
}

/** Throws `resource.conflict` if a key with this id exists. */
export async function insertKey(tx: EntityManager, key: ApiKey): Promise<void> {
  await tx.insert(ApiKeyRow, key).catch((error: unknown) => {
    if (!isUniqueViolation(error, 'api_keys_pkey')) throw error;
    throw new DomainError('resource.conflict', { message: 'This key exists already.', cause: error });
  });
}

/** Lets a key end at this time, or earlier if that was scheduled before. Returns the time, undefined without a valid key. */
export async function scheduleKeyEnd(
  tx: EntityManager,
  owner: KeyOwner,
  { keyId, mode, endsAt }: Pick<ApiKey, 'keyId' | 'mode'> & { endsAt: Date },
): Promise<Date | undefined> {
  const key = await tx.findOneBy(ApiKeyRow, { ...ownerCondition(owner), keyId, mode, revokedAt: IsNull() });
  if (!key) return undefined;
  if (key.endsAt && key.endsAt <= endsAt) return key.endsAt;
  await tx.update(ApiKeyRow, { ...ownerCondition(owner), keyId }, { endsAt });
  return endsAt;
}

/** Updates a key and returns its next version. */
export async function updateKey(
  tx: EntityManager,
  key: ApiKey,
  change: { isPrimary: boolean; revokedAt?: Date },
): Promise<ApiKey> {
  const changedFields = { ...change, version: key.version + 1 };
  await tx.update(ApiKeyRow, { keyId: key.keyId }, changedFields);
  return { ...key, ...changedFields };
}

function ownerCondition({ merchantId, siteId }: KeyOwner) {
  return { merchantId, siteId: siteId ?? IsNull() };
}
