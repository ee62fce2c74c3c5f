import { Module } from '@nestjs/common';
import { CredentialsHeartbeatModule } from '../credentials-heartbeat.module.js';
import { PartnerCredentials } from './partner-credentials.js';
import { PartnerCredentialsConsumer } from './partner-credentials.consumer.js';
import { PartnerTokens } from './partner-tokens.js';

/**
 * What a service of the main API imports to let partners in: it hears of their keys and of the keys of tokens, keeps both
 * in tables of its own (migrations PartnerCredentials1763500000020 and PartnerCredentialBounds1763500000021) and verifies
 * offline, so that it works, and starts again, while identity is down (A2).
 */
@Module({
  imports: [CredentialsHeartbeatModule],
  controllers: [PartnerCredentialsConsumer],
  providers: [PartnerCredentials, PartnerTokens],
  exports: [PartnerCredentials, PartnerTokens],
})
export class PartnerAuthModule {}
