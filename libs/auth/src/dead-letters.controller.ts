import { Controller, Get, HttpCode, Inject, Param, Post, type Type, UseGuards } from '@nestjs/common';
import { type DeadLetter, DeadLetters } from '@svc/messaging';
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

    /** The newest 200, without what the messages carry. */
    @Get()
    async list(): Promise<{ deadLetters: DeadLetter[] }> {
      return { deadLetters: await this.deadLetters.list() };
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
