import { Module } from '@nestjs/common';
import { CredentialsHeartbeatModule } from '../credentials-heartbeat.module.js';
import { PartnerCredentialsConsumer } from './partner-credentials.consumer.js';
import { PartnerCredentials } from './partner-credentials.js';
import { PartnerTokens } from './partner-tokens.js';

/**
 * Authenticates partners in a service of the main API. It stores partners' keys, and the public keys that verify
 * tokens, in tables of the service (migration PartnerCredentials1763500000020). It verifies requests with these tables
 * alone, so that the service works, and can restart, while identity is down (A2).
 */
@Module({
  imports: [CredentialsHeartbeatModule],
  controllers: [PartnerCredentialsConsumer],
  providers: [PartnerCredentials, PartnerTokens],
  exports: [PartnerCredentials, PartnerTokens],
})
export class PartnerAuthModule {}
