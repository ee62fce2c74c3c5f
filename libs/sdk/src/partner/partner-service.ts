/** Operations of a partner's service, for all its customers. */
import { readText } from '../hosted-payment.js';
import { readResponse } from '../http-exchange.js';
import { readRegisteredCustomer, type RegisteredCustomer } from './partner-payment.js';
import { PartnerSession, type ServicePayRequest } from './partner-session.js';

/** A user to create. */
export interface CreateUserRequest {
  /** Unique in your organisation, in upper or lower case. */
  email: string;
  /** 8 to 128 characters. */
  password: string;
  /** At most 100 characters, like `lastName`. */
  firstName?: string;
  lastName?: string;
}

export class PartnerService extends PartnerSession<ServicePayRequest> {
  /**
   * Creates a user. The user can log in after `registerCustomer`. The client does not retry this call: after a lost
   * response, a 409 for the same email means that the first call has created the user.
   *
   * @throws SvcApiError 400 names every invalid field; 409 if your organisation already has a user with this email
   */
  async createUser(user: CreateUserRequest): Promise<{ userId: string }> {
    const response = await this.call('POST', '/v1/auth/users', user, false);
    return readResponse(response, (body) => ({ userId: readText(body, 'userId') }));
  }

  /**
   * Registers a user as a customer of your organisation. Safe to repeat: a repeat returns the same customer.
   *
   * @throws SvcApiError 404 if your organisation has no user with this id
   */
  async registerCustomer(userId: string): Promise<RegisteredCustomer> {
    return readResponse(
      await this.call('POST', '/v1/auth/customers/register', { userId }, true),
      readRegisteredCustomer,
    );
  }
}
