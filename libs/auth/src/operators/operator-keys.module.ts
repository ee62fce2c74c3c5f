import { Module } from '@nestjs/common';
import { CredentialsHeartbeatModule } from '../credentials-heartbeat.module.js';
import { OperatorKeysConsumer } from './operator-keys.consumer.js';
import { OperatorKeys } from './operator-keys.js';

/**
 * Every service with an administration API imports this module, except identity, which reads its own tables. It stores
 * the keys of operators in a table of the service (migration OperatorKeys1763500000040), for AdminKeyGuard.
 */
@Module({
  imports: [CredentialsHeartbeatModule],
  controllers: [OperatorKeysConsumer],
  providers: [OperatorKeys],
  exports: [OperatorKeys],
})
export class OperatorKeysModule {}
