import { Body, Controller, Header, HttpCode, Inject, Ip, Post, Res } from '@nestjs/common';
import { type AuthenticatedPartner, ForPartners, Partner } from '@svc/auth';
import {
  type CustomerAnswer,
  type CustomerLoginAnswer,
  CustomerLoginRequest,
  RegisterCustomerRequest,
} from '@svc/contracts';
import type { FastifyReply } from 'fastify';
import { LogInCustomer } from '../logins/log-in-customer.js';
import { showCustomer } from './customer.js';
import { RegisterCustomer } from './register-customer.js';

/** Customers of a partner (A4, A5). `x-api-key` and a service token; errors are RFC 9457 (C5). */
@Controller('v1/auth/customers')
@ForPartners('customers:write')
export class CustomersController {
  constructor(
    @Inject(RegisterCustomer) private readonly registerCustomer: RegisterCustomer,
    @Inject(LogInCustomer) private readonly logInCustomer: LogInCustomer,
  ) {}

  /** 201; again 200 and the same body. 400 names the field; 401 empty; 403 with a customer's token; 404. */
  @Post('register')
  async register(
    @Partner() partner: AuthenticatedPartner,
    @Body() { userId }: RegisterCustomerRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<CustomerAnswer> {
    const { customer, created } = await this.registerCustomer.execute(partner, userId);
    reply.status(created ? 201 : 200);
    return showCustomer(customer);
  }

  /**
   * 200. 400 names the fields; 401, empty: wrong email or password, or no customer of this organisation; 403 with a
   * customer's token; 429 with Retry-After after 5 failures of an email, or 100 of an address and 5 more for each of its
   * customers, in 15 minutes.
   */
  @Post('login')
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  logIn(
    @Partner() partner: AuthenticatedPartner,
    @Ip() address: string,
    @Body() { email, password }: CustomerLoginRequest,
  ): Promise<CustomerLoginAnswer> {
    return this.logInCustomer.execute(partner, { email, password, address });
  }
}
