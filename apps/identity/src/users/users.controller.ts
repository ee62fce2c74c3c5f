import { Body, Controller, Inject, Post } from '@nestjs/common';
import { type AuthenticatedPartner, ForPartners, Partner } from '@svc/auth';
import { CreateUserRequest, type UserAnswer } from '@svc/contracts';
import { CreateUser } from './create-user.js';

/** Accounts of a partner's users (A3). `x-api-key` and a service token; errors are RFC 9457 (C5). */
@Controller('v1/auth/users')
@ForPartners('customers:write')
export class UsersController {
  constructor(@Inject(CreateUser) private readonly createUser: CreateUser) {}

  /** 201. 400 names the fields; 401 empty; 403 with a customer's token; 409: the email is taken. */
  @Post()
  async create(@Partner() partner: AuthenticatedPartner, @Body() request: CreateUserRequest): Promise<UserAnswer> {
    const { userId } = await this.createUser.execute(partner, request);
    return { userId };
  }
}
