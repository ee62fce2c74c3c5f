import { DomainError } from '@svc/kernel';
import { type EntityManager, In, MoreThan } from 'typeorm';
import type { Organisation } from './organisation.js';
import { OrganisationRow } from './organisation.row.js';

export const ORGANISATION_PAGE_SIZE = 50;

/**
 * Locks an organisation until the end of the transaction. Every change of an organisation begins with this lock, so
 * that the changes run one after the other. Throws `resource.not-found`.
 */
export async function lockOrganisation(tx: EntityManager, organisationId: string): Promise<Organisation> {
  const organisation = await tx.findOne(OrganisationRow, {
    where: { organisationId },
    lock: { mode: 'for_no_key_update' },
  });
  if (!organisation) throw createNotFoundError(organisationId);
  return organisation;
}

/** Throws `resource.not-found`. */
export async function getOrganisation(tx: EntityManager, organisationId: string): Promise<Organisation> {
  const organisation = await tx.findOneBy(OrganisationRow, { organisationId });
  if (!organisation) throw createNotFoundError(organisationId);
  return organisation;
}

/** The existing organisations with these ids. */
export async function findOrganisations(
  tx: EntityManager,
  organisationIds: readonly string[],
): Promise<Organisation[]> {
  return tx.findBy(OrganisationRow, { organisationId: In([...organisationIds]) });
}

/**
 * Returns at most {@link ORGANISATION_PAGE_SIZE} organisations with a higher id than `after`, ordered by id. The order
 * of ids is the order of creation.
 */
export async function listOrganisations(tx: EntityManager, after: string): Promise<Organisation[]> {
  return tx.find(OrganisationRow, {
    where: { organisationId: MoreThan(after) },
    order: { organisationId: 'ASC' },
    take: ORGANISATION_PAGE_SIZE,
  });
}

export async function insertOrganisation(tx: EntityManager, organisation: Organisation): Promise<void> {
  await tx.insert(OrganisationRow, organisation);
}

export async function renameOrganisation(tx: EntityManager, { organisationId, name }: Organisation) {
  await tx.update(OrganisationRow, { organisationId }, { name });
}

function createNotFoundError(organisationId: string): DomainError {
  return new DomainError('resource.not-found', { message: `There is no organisation ${organisationId}.` });
}
