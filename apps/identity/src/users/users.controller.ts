import { Body, Controller, Inject, Post } from '@nestjs/common';
import { type AuthenticatedPartner, ForPartners, Partner } from '@svc/auth';
import { CreateUserRequest, type UserAnswer } from '@svc/contracts';
import { CreateUser } from './create-user.js';

/** Accounts of a partner's users (A3). `x-api-key` and a service token; errors are RFC 9457 (C5). */
@Controller('v1/auth/users')
@ForPartners('customers:write')
export class UsersController {
  constructor(@Inject(CreateUser) private readonly createUser: CreateUser) {}

  /**
   * Creates an account for a user of the partner (A3).
   *
   * @returns 201 The user's id, which `POST /v1/auth/customers/register` takes.
   * @throws resource.conflict The email is taken in this organisation.
   */
  @Post()
  async create(@Partner() partner: AuthenticatedPartner, @Body() request: CreateUserRequest): Promise<UserAnswer> {
    const { userId } = await this.createUser.execute(partner, request);
    return { userId };
  }
}
