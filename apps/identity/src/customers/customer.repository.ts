import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Customer } from './customer.js';

/** Reads and writes customers. A customer is a user who is registered as a customer. */
@Injectable()
export class CustomerRepository {
  /**
   * Returns false if the user is already a customer. If two transactions insert the same user, the second transaction
   * waits for the first.
   */
  async insertIfAbsent(tx: EntityManager, customer: Customer): Promise<boolean> {
    const inserted = await tx.query<unknown[]>(
      `INSERT INTO customers (customer_reference, user_id, organisation_id, mode, created_at) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (user_id) DO NOTHING RETURNING customer_reference`,
      [customer.customerReference, customer.userId, customer.organisationId, customer.mode, customer.createdAt],
    );
    return inserted.length > 0;
  }

  /** The customer of this user, who must be registered. */
  async getByUser(tx: EntityManager, userId: string): Promise<Customer> {
    const [customer] = await tx.query<Customer[]>(
      `SELECT customer_reference AS "customerReference", user_id AS "userId", organisation_id AS "organisationId", mode,
              created_at AS "createdAt" FROM customers WHERE user_id = $1`,
      [userId],
    );
    return customer!;
  }
}
