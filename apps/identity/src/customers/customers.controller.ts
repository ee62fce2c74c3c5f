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

/** Customers of a partner (A4, A5). Requires `x-api-key` and a service token. Errors are RFC 9457 (C5). */
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
   * @returns 200 The existing customer, because the user was already registered.
   * @throws resource.not-found The partner has no user with this id.
   */
  @Post('register')
  async register(
    @Partner() partner: AuthenticatedPartner,
    @Body() { userId }: RegisterCustomerRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<CustomerAnswer> {
    const { customer, isNew } = await this.registerCustomer.execute(partner, userId);
    reply.status(isNew ? 201 : 200);
    return toCustomerView(customer);
  }

  /**
   * Logs a customer in. The response contains an identity token that is valid for 15 minutes. The token gives access
   * only to the data and payments of this customer (A5).
   *
   * @returns 200 The identity token and the customer.
   * @throws credentials.invalid The email or the password is wrong, or the user is not a customer of this organisation.
   *   The response does not reveal which of these is the case.
   * @throws request.rate-limited Too many logins failed in 15 minutes: 5 with this email, or 100 from this IP address.
   *   Each customer who has logged in from an IP address increases the limit of the address by 5. While a limit is
   *   reached, even a login with the right password gets this response.
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
