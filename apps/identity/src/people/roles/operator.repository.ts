import { MAX_OPERATORS, type OperatorRole } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { isUniqueViolation } from '@svc/persistence';
import type { EntityManager } from 'typeorm';
import type { ListedOperator, Operator } from './operator.js';

// Operators belong to the platform, so the statements have no owner.

/**
 * Changes of operators and of their invitations run one after the other until the end of the transaction, so that limits
 * and the last operator are counted correctly. Readers do not wait.
 */
export async function lockOperators(tx: EntityManager): Promise<void> {
  await tx.query(`LOCK TABLE operators IN SHARE ROW EXCLUSIVE MODE`);
}

/** Throws `resource.conflict` if the person is an operator already, or if the limit is reached. */
export async function insertOperator(
  tx: EntityManager,
  { personId, role, createdAt }: Operator & { readonly createdAt: Date },
): Promise<void> {
  const [row] = await tx.query<[{ operators: number }]>(`SELECT count(*) AS operators FROM operators`);
  if (row.operators >= MAX_OPERATORS)
    throw new DomainError('resource.conflict', { message: `The platform has ${MAX_OPERATORS} operators.` });
  await tx
    .query(`INSERT INTO operators (person_id, role, created_at) VALUES ($1, $2, $3)`, [personId, role, createdAt])
    .catch((error: unknown) => {
      if (!isUniqueViolation(error, 'operators_pkey')) throw error;
      throw new DomainError('resource.conflict', { message: 'The person is an operator already.', cause: error });
    });
}

/** The role of the person. Undefined if the person is no operator. */
export async function findOperator(tx: EntityManager, personId: string): Promise<OperatorRole | undefined> {
  const [row] = await tx.query<{ role: OperatorRole }[]>(`SELECT role FROM operators WHERE person_id = $1`, [personId]);
  return row?.role;
}

export async function isOperatorByEmail(tx: EntityManager, email: string): Promise<boolean> {
  const rows = await tx.query<unknown[]>(
    `SELECT 1 FROM operators o JOIN people p ON p.person_id = o.person_id WHERE p.email = $1`,
    [email],
  );
  return rows.length > 0;
}

export async function updateOperator(tx: EntityManager, { personId, role }: Operator): Promise<void> {
  await tx.query(`UPDATE operators SET role = $2 WHERE person_id = $1`, [personId, role]);
}

export async function deleteOperator(tx: EntityManager, personId: string): Promise<void> {
  await tx.query(`DELETE FROM operators WHERE person_id = $1`, [personId]);
}

/** Number of operators who may change something. */
export async function countOperatorsWhoChange(tx: EntityManager): Promise<number> {
  const [row] = await tx.query<[{ operators: number }]>(
    `SELECT count(*) AS operators FROM operators WHERE role = 'operator'`,
  );
  return row.operators;
}

/** All operators, by name. */
export function listOperators(db: EntityManager): Promise<ListedOperator[]> {
  return db.query(
    `SELECT p.person_id AS "personId", p.email, p.name, p.totp_secret IS NOT NULL AS "hasTotp",
            EXISTS (SELECT 1 FROM passkeys k WHERE k.person_id = p.person_id) AS "hasPasskey",
            p.last_sign_in_at AS "lastSignInAt", o.role
       FROM operators o JOIN people p ON p.person_id = o.person_id
      ORDER BY p.name, p.person_id LIMIT ${MAX_OPERATORS}`,
  );
}
