import { Inject, Injectable } from '@nestjs/common';
import type { CreateUserRequest } from '@svc/contracts';
import { Clock, newUuid } from '@svc/kernel';
import { PasswordQueue } from './password-queue.js';
import { canonicalEmail, type PartnerScope, type User } from './user.js';
import { UserRepository } from './user.repository.js';

/** Creates a user of an organisation (A3). */
@Injectable()
export class CreateUser {
  constructor(
    @Inject(UserRepository) private readonly users: UserRepository,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(PasswordQueue) private readonly passwords: PasswordQueue,
  ) {}

  /** Throws `resource.conflict` if the organisation has a user with this email. */
  async execute(owner: PartnerScope, request: CreateUserRequest): Promise<User> {
    const user: User = {
      userId: newUuid(this.clock),
      organisationId: owner.organisationId,
      mode: owner.mode,
      email: canonicalEmail(request.email),
      passwordHash: await this.passwords.hash(owner.organisationId, request.password),
      firstName: request.firstName ?? '',
      lastName: request.lastName ?? '',
      createdAt: this.clock.now(),
    };
    await this.users.insert(user);
    return user;
  }
}
