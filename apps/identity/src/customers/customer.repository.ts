import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Customer } from './customer.js';

/** Users that are registered as customers. */
@Injectable()
export class CustomerRepository {
  /** False when the user is a customer already; of two at once the second waits here for the first. */
  async insertIfAbsent(tx: EntityManager, customer: Customer): Promise<boolean> {
    const made = await tx.query<unknown[]>(
      `INSERT INTO customers (customer_reference, user_id, organisation_id, mode, created_at) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (user_id) DO NOTHING RETURNING customer_reference`,
      [customer.customerReference, customer.userId, customer.organisationId, customer.mode, customer.createdAt],
    );
    return made.length > 0;
  }

  async getOf(tx: EntityManager, userId: string): Promise<Customer> {
    const [customer] = await tx.query<Customer[]>(
      `SELECT customer_reference AS "customerReference", user_id AS "userId", organisation_id AS "organisationId", mode,
              created_at AS "createdAt" FROM customers WHERE user_id = $1`,
      [userId],
    );
    return customer!;
  }
}
