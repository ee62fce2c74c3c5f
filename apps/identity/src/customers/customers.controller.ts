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
import { toCustomerView } from './customer.js';
import { RegisterCustomer } from './register-customer.js';

/** Customers of a partner (A4, A5). `x-api-key` and a service token; errors are RFC 9457 (C5). */
@Controller('v1/auth/customers')
@ForPartners('customers:write')
export class CustomersController {
  constructor(
    @Inject(RegisterCustomer) private readonly registerCustomer: RegisterCustomer,
    @Inject(LogInCustomer) private readonly logInCustomer: LogInCustomer,
  ) {}

  /**
   * Registers a user as a customer of the partner (A4).
   *
   * @returns 201 The customer.
   * @returns 200 Already registered: the same body.
   * @throws resource.not-found The partner has no such user.
   */
  @Post('register')
  async register(
    @Partner() partner: AuthenticatedPartner,
    @Body() { userId }: RegisterCustomerRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<CustomerAnswer> {
    const { customer, created } = await this.registerCustomer.execute(partner, userId);
    reply.status(created ? 201 : 200);
    return toCustomerView(customer);
  }

  /**
   * Logs a customer in: an identity token for 15 minutes that is valid only for the data and payments of this customer (A5).
   *
   * @returns 200 The identity token and the customer.
   * @throws credentials.invalid Wrong email or password, or no customer of this organisation: the response does not tell which.
   * @throws request.rate-limited After 5 failures of one email, or 100 of one address and 5 more for each of its customers, in 15
   *   minutes; also for the right password.
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
