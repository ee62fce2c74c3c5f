import { Inject, Injectable } from '@nestjs/common';
import { CustomerRegisteredV1 } from '@svc/contracts';
import { Clock, DomainError, isUuid, newUuid } from '@svc/kernel';
import { EventLog } from '@svc/messaging';
import { inTransaction } from '@svc/persistence';
import { DataSource, type EntityManager } from 'typeorm';
import type { PartnerScope } from '../users/user.js';
import { findUser } from '../users/user.repository.js';
import type { Customer } from './customer.js';

/** Registers a user as a customer of its organisation, once (A4). */
@Injectable()
export class RegisterCustomer {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(EventLog) private readonly events: EventLog,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** Throws `resource.not-found` for what is no user of this organisation and mode, whatever else it may be. */
  async execute(owner: PartnerScope, userId: string): Promise<{ customer: Customer; created: boolean }> {
    if (!isUuid(userId)) throw new DomainError('resource.not-found');
    return inTransaction(this.dataSource, async (tx) => {
      const user = await findUser(tx, owner, userId);
      if (!user) throw new DomainError('resource.not-found');
      const wanted: Customer = {
        customerReference: newUuid(this.clock),
        userId: user.userId,
        organisationId: user.organisationId,
        mode: user.mode,
        createdAt: this.clock.now(),
      };
      if (!(await this.insert(tx, wanted))) return { customer: await this.getOf(tx, user.userId), created: false };
      const { customerReference, organisationId, mode } = wanted;
      const { firstName, lastName } = user;
      await this.events.append(tx, {
        type: CustomerRegisteredV1,
        aggregateId: customerReference,
        aggregateVersion: 1,
        payload: { customerReference, organisationId, mode, firstName, lastName },
      });
      return { customer: wanted, created: true };
    });
  }

  /** False when the user is a customer already; of two at once the second waits here for the first. */
  private async insert(tx: EntityManager, customer: Customer): Promise<boolean> {
    const made = await tx.query<unknown[]>(
      `INSERT INTO customers (customer_reference, user_id, organisation_id, mode, created_at) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (user_id) DO NOTHING RETURNING customer_reference`,
      [customer.customerReference, customer.userId, customer.organisationId, customer.mode, customer.createdAt],
    );
    return made.length > 0;
  }

  private async getOf(tx: EntityManager, userId: string): Promise<Customer> {
    const [customer] = await tx.query<Customer[]>(
      `SELECT customer_reference AS "customerReference", user_id AS "userId", organisation_id AS "organisationId", mode,
              created_at AS "createdAt" FROM customers WHERE user_id = $1`,
      [userId],
    );
    return customer!;
  }
}
