import { DomainError } from '@svc/kernel';
import type { Transaction } from '@svc/persistence';
import { countOwners } from './role.repository.js';

/**
 * Throws `resource.conflict` if the merchant has no owner after the change in this transaction: no person could invite
 * people any more. The caller has locked the merchant, so that two owners cannot remove each other at the same time.
 */
export async function requireOwner(tx: Transaction, merchantId: number): Promise<void> {
  if ((await countOwners(tx, merchantId)) > 0) return;
  throw new DomainError('resource.conflict', { message: 'This is the last owner. Make another person owner first.' });
}
