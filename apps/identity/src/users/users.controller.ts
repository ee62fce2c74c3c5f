import { Body, Controller, Inject, Post } from '@nestjs/common';
import { type AuthenticatedPartner, ForPartners, Partner } from '@svc/auth';
import { CreateUserRequest, type UserAnswer } from '@svc/contracts';
import { CreateUser } from './create-user.js';

/** Users of a partner (A3). Requires `x-api-key` and a service token. Errors are RFC 9457 (C5). */
@Controller('v1/auth/users')
@ForPartners('customers:write')
export class UsersController {
  constructor(@Inject(CreateUser) private readonly createUser: CreateUser) {}

  /**
   * Creates a user of the partner (A3).
   *
   * @returns 201 The id of the user. `POST /v1/auth/customers/register` requires it.
   * @throws resource.conflict The organisation already has a user with this email.
   */
  @Post()
  async create(@Partner() partner: AuthenticatedPartner, @Body() request: CreateUserRequest): Promise<UserAnswer> {
    const { userId } = await this.createUser.execute(partner, request);
    return { userId };
  }
}
