import { MAX_PEOPLE_PER_MERCHANT, MAX_ROLES_PER_PERSON, type PeopleScope, type Role } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { isUniqueViolation } from '@svc/persistence';
import type { EntityManager } from 'typeorm';
import type { Person, PersonFactors, RoleGrantRow } from '../person/person.js';

// Every statement has the merchant. The callers of changes have locked it, so that the last owner and the limits are
// counted correctly.

/** Throws `resource.conflict` if the person has a role in this scope, or if a limit is reached. */
export async function insertRole(
  tx: EntityManager,
  { merchantId, siteId }: PeopleScope,
  { personId, role, createdAt }: { readonly personId: string; readonly role: Role; readonly createdAt: Date },
): Promise<void> {
  await requirePlace(tx, merchantId, personId);
  await tx
    .query(`INSERT INTO person_roles (merchant_id, person_id, site_id, role, created_at) VALUES ($1, $2, $3, $4, $5)`, [
      merchantId,
      personId,
      siteId ?? null,
      role,
      createdAt,
    ])
    .catch((error: unknown) => {
      if (!isUniqueViolation(error, 'person_roles_one_each')) throw error;
      throw new DomainError('resource.conflict', { message: 'The person has a role there already.', cause: error });
    });
}

async function requirePlace(tx: EntityManager, merchantId: number, personId: string): Promise<void> {
  const [row] = await tx.query<[{ others: number; roles: number }]>(
    `SELECT (SELECT count(DISTINCT person_id) FROM person_roles WHERE merchant_id = $1 AND person_id <> $2) AS others,
            (SELECT count(*) FROM person_roles WHERE person_id = $2) AS roles`,
    [merchantId, personId],
  );
  if (row.others >= MAX_PEOPLE_PER_MERCHANT)
    throw new DomainError('resource.conflict', { message: `The merchant has ${MAX_PEOPLE_PER_MERCHANT} people.` });
  if (row.roles >= MAX_ROLES_PER_PERSON)
    throw new DomainError('resource.conflict', { message: `The person has ${MAX_ROLES_PER_PERSON} roles.` });
}

/** Whether a person with this email has a role exactly in this scope. */
export async function hasRoleByEmail(
  tx: EntityManager,
  { merchantId, siteId }: PeopleScope,
  email: string,
): Promise<boolean> {
  const rows = await tx.query<unknown[]>(
    `SELECT 1 FROM person_roles r JOIN people p ON p.person_id = r.person_id
      WHERE r.merchant_id = $1 AND r.site_id IS NOT DISTINCT FROM $2 AND p.email = $3`,
    [merchantId, siteId ?? null, email],
  );
  return rows.length > 0;
}

/** All roles of a person, at all merchants. Only for checks that must know them: a merchant does not see the others. */
export function listRoles(tx: EntityManager, personId: string): Promise<RoleGrantRow[]> {
  return tx.query(
    `SELECT merchant_id AS "merchantId", site_id AS "siteId", role FROM person_roles
      WHERE person_id = $1 ORDER BY merchant_id, site_id NULLS FIRST LIMIT ${MAX_ROLES_PER_PERSON}`,
    [personId],
  );
}

/** The role that the person has exactly in this scope. */
export async function findRole(
  tx: EntityManager,
  { merchantId, siteId }: PeopleScope,
  personId: string,
): Promise<Role | undefined> {
  const [row] = await tx.query<{ role: Role }[]>(
    `SELECT role FROM person_roles WHERE merchant_id = $1 AND person_id = $2 AND site_id IS NOT DISTINCT FROM $3`,
    [merchantId, personId, siteId ?? null],
  );
  return row?.role;
}

export async function updateRole(
  tx: EntityManager,
  { merchantId, siteId }: PeopleScope,
  personId: string,
  role: Role,
): Promise<void> {
  await tx.query(
    `UPDATE person_roles SET role = $4 WHERE merchant_id = $1 AND person_id = $2 AND site_id IS NOT DISTINCT FROM $3`,
    [merchantId, personId, siteId ?? null, role],
  );
}

/** Deletes the role at one site, or without a site all roles at the merchant. Returns the deleted roles. */
export async function deleteRoles(
  tx: EntityManager,
  { merchantId, siteId }: PeopleScope,
  personId: string,
): Promise<RoleGrantRow[]> {
  const [rows] = await tx.query<[RoleGrantRow[], number]>(
    `DELETE FROM person_roles WHERE merchant_id = $1 AND person_id = $2 AND ($3::bigint IS NULL OR site_id = $3)
     RETURNING merchant_id AS "merchantId", site_id AS "siteId", role`,
    [merchantId, personId, siteId ?? null],
  );
  return rows;
}

/** Number of owners of the whole merchant. An owner of one site is none. */
export async function countOwners(tx: EntityManager, merchantId: number): Promise<number> {
  const [row] = await tx.query<[{ owners: number }]>(
    `SELECT count(*) AS owners FROM person_roles WHERE merchant_id = $1 AND site_id IS NULL AND role = 'owner'`,
    [merchantId],
  );
  return row.owners;
}

export interface ListedPerson extends Person, PersonFactors {
  readonly lastSignInAt: Date | null;
  readonly roles: readonly RoleGrantRow[];
}

/** The people with a role at the merchant, or at one of its sites, with the roles there, by name. */
export function listPeople(db: EntityManager, { merchantId, siteId }: PeopleScope): Promise<ListedPerson[]> {
  return db.query(
    `SELECT p.person_id AS "personId", p.email, p.name, p.totp_secret IS NOT NULL AS "hasTotp",
            EXISTS (SELECT 1 FROM passkeys k WHERE k.person_id = p.person_id) AS "hasPasskey",
            p.last_sign_in_at AS "lastSignInAt",
            json_agg(json_build_object('merchantId', r.merchant_id, 'siteId', r.site_id, 'role', r.role)
                     ORDER BY r.site_id NULLS FIRST) AS roles
       FROM person_roles r JOIN people p ON p.person_id = r.person_id
      WHERE r.merchant_id = $1 AND ($2::bigint IS NULL OR r.site_id = $2)
      GROUP BY p.person_id ORDER BY p.name, p.person_id LIMIT ${MAX_PEOPLE_PER_MERCHANT}`,
    [merchantId, siteId ?? null],
  );
}
