import { Controller, Inject } from '@nestjs/common';
import {
  type CreateCredential,
  CreateCredentialV1,
  type CredentialEntry,
  type CredentialScope,
  ListCredentialsV1,
  type RevokeCredential,
  RevokeCredentialV1,
} from '@svc/contracts';
import { MessagePattern } from '@svc/messaging';
import { CredentialsOfPeople } from './credentials-of-people.js';

/** API keys and webhook secrets, for the console. A repeated creation is refused, a repeated revocation changes nothing. */
@Controller()
export class CredentialsConsumer {
  constructor(@Inject(CredentialsOfPeople) private readonly credentials: CredentialsOfPeople) {}

  @MessagePattern(ListCredentialsV1)
  async list(request: CredentialScope): Promise<{ credentials: CredentialEntry[] }> {
    return { credentials: await this.credentials.list(request) };
  }

  @MessagePattern(CreateCredentialV1)
  async create(request: CreateCredential): Promise<{ secret: string }> {
    return { secret: await this.credentials.create(request) };
  }

  @MessagePattern(RevokeCredentialV1)
  async revoke(request: RevokeCredential): Promise<{ revoked: true }> {
    await this.credentials.revoke(request);
    return { revoked: true };
  }
}
