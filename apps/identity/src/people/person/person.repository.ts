import { DomainError } from '@svc/kernel';
import { isUniqueViolation } from '@svc/persistence';
import type { EntityManager } from 'typeorm';
import type { Person, PersonFactors } from './person.js';

// A person belongs to no merchant, so the look-ups below have no owner. Their callers prove the person instead: by a
// password, a passkey, a session or a one-time token. Look-ups of the people of a merchant are in roles/ and directory/.

const COLUMNS = `person_id AS "personId", email, name`;
const FACTORS = `totp_secret IS NOT NULL AS "hasTotp",
  EXISTS (SELECT 1 FROM passkeys WHERE passkeys.person_id = people.person_id) AS "hasPasskey"`;

export interface NewPerson extends Person {
  readonly passwordHash: string;
  readonly createdAt: Date;
}

/** Throws `resource.conflict` if a person has this email. */
export async function insertPerson(tx: EntityManager, person: NewPerson): Promise<void> {
  await tx
    .query(`INSERT INTO people (person_id, email, name, password_hash, created_at) VALUES ($1, $2, $3, $4, $5)`, [
      person.personId,
      person.email,
      person.name,
      person.passwordHash,
      person.createdAt,
    ])
    .catch((error: unknown) => {
      throw isUniqueViolation(error, 'people_email') ? new DomainError('resource.conflict', { cause: error }) : error;
    });
}

export interface PersonWithPassword extends Person, PersonFactors {
  readonly passwordHash: string;
}

export async function findPersonByEmail(db: EntityManager, email: string): Promise<PersonWithPassword | undefined> {
  const [person] = await db.query<PersonWithPassword[]>(
    `SELECT ${COLUMNS}, password_hash AS "passwordHash", ${FACTORS} FROM people WHERE email = $1`,
    [email],
  );
  return person;
}

/**
 * Locks a person until the end of the transaction, so that changes of roles, sessions and second factors of one person run
 * one after the other. Undefined if the person was removed.
 */
export async function lockPerson(tx: EntityManager, personId: string): Promise<(Person & PersonFactors) | undefined> {
  // A weaker lock would not prevent that a person without roles is deleted while another transaction adds a role.
  await tx.query(`SELECT 1 FROM people WHERE person_id = $1 FOR UPDATE`, [personId]);
  // A second statement, because the first has read the passkeys before it waited for the lock.
  const [person] = await tx.query<(Person & PersonFactors)[]>(
    `SELECT ${COLUMNS}, ${FACTORS} FROM people WHERE person_id = $1`,
    [personId],
  );
  return person;
}

export async function updateLastSignIn(tx: EntityManager, personId: string, at: Date): Promise<void> {
  await tx.query(`UPDATE people SET last_sign_in_at = $2 WHERE person_id = $1`, [personId, at]);
}

/** Deletes the person with the sessions and second factors, unless the person has a role or is an operator. */
export async function deletePersonWithoutRoles(tx: EntityManager, personId: string): Promise<boolean> {
  const [, deleted] = await tx.query<[unknown, number]>(
    `DELETE FROM people WHERE person_id = $1
        AND NOT EXISTS (SELECT 1 FROM person_roles WHERE person_roles.person_id = people.person_id)
        AND NOT EXISTS (SELECT 1 FROM operators WHERE operators.person_id = people.person_id)`,
    [personId],
  );
  return deleted > 0;
}
