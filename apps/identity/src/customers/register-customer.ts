import { Inject, Injectable } from '@nestjs/common';
import { CustomerRegisteredV1 } from '@svc/contracts';
import { Clock, DomainError, isUuid, newUuid } from '@svc/kernel';
import { EventLog } from '@svc/messaging';
import { inTransaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import type { PartnerScope } from '../users/user.js';
import { UserRepository } from '../users/user.repository.js';
import type { Customer } from './customer.js';
import { CustomerRepository } from './customer.repository.js';

/** Registers a user as a customer of its organisation (A4). A repeated call returns the existing customer. */
@Injectable()
export class RegisterCustomer {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(UserRepository) private readonly users: UserRepository,
    @Inject(CustomerRepository) private readonly customers: CustomerRepository,
    @Inject(EventLog) private readonly events: EventLog,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** Throws `resource.not-found` if this organisation has no user `userId` in this mode. */
  async execute(owner: PartnerScope, userId: string): Promise<{ customer: Customer; isNew: boolean }> {
    if (!isUuid(userId)) throw createNoUserError();
    return inTransaction(this.dataSource, async (tx) => {
      const user = await this.users.find(tx, owner, userId);
      if (!user) throw createNoUserError();
      const customer: Customer = {
        customerReference: newUuid(this.clock),
        userId: user.userId,
        organisationId: user.organisationId,
        mode: user.mode,
        createdAt: this.clock.now(),
      };
      if (!(await this.customers.insertIfAbsent(tx, customer)))
        return { customer: await this.customers.getByUser(tx, user.userId), isNew: false };
      const { customerReference, organisationId, mode } = customer;
      const { firstName, lastName } = user;
      await this.events.append(tx, {
        type: CustomerRegisteredV1,
        aggregateId: customerReference,
        aggregateVersion: 1,
        payload: { customerReference, organisationId, mode, firstName, lastName },
      });
      return { customer, isNew: true };
    });
  }
}

/** The same for a user of another organisation or mode. */
function createNoUserError(): DomainError {
  return new DomainError('resource.not-found', {
    message: 'Your organisation has no user with this userId in this mode. Create the user first: POST /v1/auth/users.',
  });
}
