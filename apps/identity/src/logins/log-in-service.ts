import { Inject, Injectable } from '@nestjs/common';
import type { PartnerKey } from '@svc/auth';
import type { ServiceLoginAnswer, ServiceLoginRequest } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { DataSource } from 'typeorm';
import { hashApiToken } from '../partner-credentials/partner-credential.js';
import { SignToken } from '../token-keys/sign-token.js';
import { findApiToken } from './find-api-token.query.js';

/** Logs a partner's server in with its API token (A1). */
@Injectable()
export class LogInService {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(SignToken) private readonly signToken: SignToken,
  ) {}

  /**
   * Throws `credentials.invalid` if the API key, the organisationId and the API token do not belong to the same
   * organisation and mode (A11). The method always executes exactly one query, by the hash of the token, so that the
   * response time does not reveal which organisations exist.
   */
  async execute(key: PartnerKey, { apiToken, organisationId }: ServiceLoginRequest): Promise<ServiceLoginAnswer> {
    const found = await findApiToken(this.dataSource, hashApiToken(apiToken));
    const isSameOwner =
      found?.organisationId === key.organisationId &&
      found.organisationId === organisationId.toLowerCase() &&
      found.mode === key.mode;
    if (!found || !isSameOwner) throw new DomainError('credentials.invalid');
    return this.signToken.execute({
      tokenType: 'service',
      subject: found.tokenId,
      organisationId: key.organisationId,
      mode: key.mode,
    });
  }
}
