import { Controller, Get, HttpCode, Inject, Param, Post, Query, type Type, UseGuards } from '@nestjs/common';
import {
  type BrokerDeadLetterSummary,
  type BrokerReplay,
  type DeadLetterPage,
  DeadLetters,
  type ReplayedPage,
} from '@svc/messaging';
import { AdminKeyGuard } from './admin-key.guard.js';

/**
 * For administrators: the messages that `service` gave up on, and another try once the cause is mended. A service
 * offers it by listing the result among its module's controllers and providing ADMIN_KEY.
 */
export function deadLettersOf(service: string): Type {
  @Controller(`admin/v1/dead-letters/${service}`)
  @UseGuards(AdminKeyGuard)
  class DeadLettersController {
    constructor(@Inject(DeadLetters) private readonly deadLetters: DeadLetters) {}

    /** A page of 200, newest first and without what the messages carry; `after` is null on the last. */
    @Get()
    list(@Query('type') type?: string, @Query('after') after?: string): Promise<DeadLetterPage> {
      return this.deadLetters.list({ type, after });
    }

    /** Those that RabbitMQ keeps: count and oldest. None where the services are one process. */
    @Get('broker')
    async summariseInBroker(): Promise<BrokerDeadLetterSummary> {
      return (await this.deadLetters.inBroker?.summary()) ?? { count: 0, countMax: 0, oldest: null };
    }

    /** Hands up to 1 000 of them to the handlers; go on while `replayed` is not 0. Those that are refused stay. 503 while RabbitMQ is away. */
    @Post('broker/replays')
    @HttpCode(200)
    async replayFromBroker(): Promise<BrokerReplay> {
      return (await this.deadLetters.inBroker?.replay()) ?? { replayed: 0, refused: 0 };
    }

    /** Replays a page of 100; go on with `after` while it is not null. Those that fail again stay. */
    @Post('replays')
    @HttpCode(200)
    replayMany(@Query('type') type?: string, @Query('after') after?: string): Promise<ReplayedPage> {
      return this.deadLetters.replayMany({ type, after });
    }

    /** 204 when it is handled; 404 when there is no such letter; the handler's error when it fails again. */
    @Post(':messageId/replay')
    @HttpCode(204)
    replay(@Param('messageId') messageId: string): Promise<void> {
      return this.deadLetters.replay(messageId);
    }
  }
  return DeadLettersController;
}
