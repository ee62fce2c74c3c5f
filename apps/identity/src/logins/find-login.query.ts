import type { DataSource } from 'typeorm';
import type { PartnerScope } from '../users/user.js';

/** The data of a user that a login needs. */
export interface CustomerLogin {
  /** Null if the user is not registered as a customer. */
  customerReference: string | null;
  passwordHash: string;
  firstName: string;
  lastName: string;
}

export async function findLogin(
  db: Pick<DataSource, 'query'>,
  { organisationId, mode }: PartnerScope,
  email: string,
): Promise<CustomerLogin | undefined> {
  const [row] = await db.query<CustomerLogin[]>(
    `SELECT c.customer_reference AS "customerReference", u.password_hash AS "passwordHash",
              u.first_name AS "firstName", u.last_name AS "lastName"
         FROM users u LEFT JOIN customers c ON c.user_id = u.user_id
        WHERE u.organisation_id = $1 AND u.mode = $2 AND u.email = $3`,
    [organisationId, mode, email],
  );
  return row;
}
