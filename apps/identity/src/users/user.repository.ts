import { Inject, Injectable } from '@nestjs/common';
import { DomainError } from '@svc/kernel';
import { isUniqueViolation } from '@svc/persistence';
import { DataSource, type EntityManager } from 'typeorm';
import type { PartnerScope, User } from './user.js';

const COLUMNS = `user_id AS "userId", organisation_id AS "organisationId", mode, email, password_hash AS "passwordHash",
  first_name AS "firstName", last_name AS "lastName", created_at AS "createdAt"`;

/** Reads and writes the users of organisations. */
@Injectable()
export class UserRepository {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /** Throws `resource.conflict` if the organisation has a user with this email. */
  async insert(user: User): Promise<void> {
    await this.dataSource
      .query(
        `INSERT INTO users (user_id, organisation_id, mode, email, password_hash, first_name, last_name, created_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
        [
          user.userId,
          user.organisationId,
          user.mode,
          user.email,
          user.passwordHash,
          user.firstName,
          user.lastName,
          user.createdAt,
        ],
      )
      .catch(throwForDuplicateEmail);
  }

  async find(tx: EntityManager, owner: PartnerScope, userId: string): Promise<User | undefined> {
    const [user] = await tx.query<User[]>(
      `SELECT ${COLUMNS} FROM users WHERE organisation_id = $1 AND mode = $2 AND user_id = $3`,
      [owner.organisationId, owner.mode, userId],
    );
    return user;
  }
}

function throwForDuplicateEmail(error: unknown): never {
  if (!isUniqueViolation(error, 'users_email')) throw error;
  const message = 'This organisation already has a user with this email.';
  throw new DomainError('resource.conflict', { message, fields: [{ field: 'email', message }], cause: error });
}
