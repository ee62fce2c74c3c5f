import { Controller, Get, HttpCode, Inject, Param, Post, Query, type Type, UseGuards } from '@nestjs/common';
import { AdminKeyGuard } from '@svc/auth';
import {
  type BrokerDeadLetterSummary,
  type BrokerReplay,
  type DeadLetterPage,
  DeadLetters,
  type ReplayedPage,
} from '@svc/messaging';

/**
 * For administrators: lists the dead letters of a service, and replays them when the cause is fixed.
 */
export function createDeadLettersController(service: string): Type {
  // The docstring above is the description of this API in the reference. A service adds the returned class to the
  // controllers of its module, and provides ADMIN_KEY.
  @Controller(`admin/v1/dead-letters/${service}`)
  @UseGuards(AdminKeyGuard)
  class DeadLettersController {
    constructor(@Inject(DeadLetters) private readonly deadLetters: DeadLetters) {}

    /**
     * Lists the dead letters of a service, 200 at a time, newest first and without payloads. `after` is null on the
     * last page.
     *
     * @throws request.invalid
     */
    @Get()
    list(@Query('type') type?: string, @Query('after') after?: string): Promise<DeadLetterPage> {
      return this.deadLetters.list({ type, after });
    }

    /** Counts the dead letters in RabbitMQ's queue. The count is 0 if all services run in one process. */
    @Get('broker')
    async summariseInBroker(): Promise<BrokerDeadLetterSummary> {
      return (await this.deadLetters.inBroker?.summary()) ?? { count: 0, countMax: 0, oldest: null };
    }

    /**
     * Passes up to 1 000 dead letters of RabbitMQ to the handlers. Repeat the request while `replayed` is not 0.
     * Refused dead letters stay in the queue.
     *
     * @throws service.not-ready RabbitMQ is unavailable.
     */
    @Post('broker/replays')
    @HttpCode(200)
    async replayFromBroker(): Promise<BrokerReplay> {
      return (await this.deadLetters.inBroker?.replay()) ?? { replayed: 0, refused: 0 };
    }

    /**
     * Replays a page of 100 dead letters. Repeat the request with `after` while `after` is not null. Dead letters that
     * fail again stay.
     *
     * @throws request.invalid
     */
    @Post('replays')
    @HttpCode(200)
    replayMany(@Query('type') type?: string, @Query('after') after?: string): Promise<ReplayedPage> {
      return this.deadLetters.replayMany({ type, after });
    }

    /**
     * Replays one dead letter. If the handler fails again, the response is the error of the handler.
     *
     * @returns 204 The dead letter was handled.
     * @throws resource.not-found
     * @throws resource.conflict No handler for its type exists any more.
     */
    @Post(':messageId/replay')
    @HttpCode(204)
    replay(@Param('messageId') messageId: string): Promise<void> {
      return this.deadLetters.replay(messageId);
    }
  }
  return DeadLettersController;
}
