import { Controller, Delete, Get, HttpCode, Inject, Param, Post, Query, type Type, UseGuards } from '@nestjs/common';
import { AdminKeyGuard, AuditTrail, Author, type ChangeAuthor } from '@svc/auth';
import {
  type BrokerDeadLetterSummary,
  type BrokerReplay,
  type DeadLetterPage,
  DeadLetters,
  type ReplayedPage,
} from '@svc/messaging';
import type { Transaction } from '@svc/persistence';

/** The entry in the audit log for a replay or the deletion of one dead letter. */
function auditOne(audit: AuditTrail, author: ChangeAuthor, action: 'dead-letter.replayed' | 'dead-letter.dropped') {
  return (tx: Transaction, letter: { readonly messageId: string; readonly type: string }): Promise<void> =>
    audit.append(tx, author, { action, after: { ...letter } });
}

/** The entry in the audit log for a replay of a selection. It names the first dead letter, if its id is known. */
function auditReplays(audit: AuditTrail, author: ChangeAuthor, selection: Record<string, unknown>) {
  return (tx: Transaction, first?: { readonly messageId: string }): Promise<void> =>
    audit.append(tx, author, {
      action: 'dead-letters.replayed',
      after: { ...selection, ...(first ? { firstMessageId: first.messageId } : {}) },
    });
}

// The docstring below is the description of this API in the reference. A service adds the returned class to the
// controllers of its module, and provides ADMIN_KEY and AuditTrail.
/**
 * For administrators: lists the dead letters of a service, and replays them when the cause is fixed.
 */
export function createDeadLettersController(service: string): Type {
  @Controller(`admin/v1/dead-letters/${service}`)
  @UseGuards(AdminKeyGuard)
  class DeadLettersController {
    constructor(
      @Inject(DeadLetters) private readonly deadLetters: DeadLetters,
      @Inject(AuditTrail) private readonly audit: AuditTrail,
    ) {}

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

    /**
     * Replays a page of 100 dead letters. Repeat the request with `after` while `after` is not null. Dead letters that
     * fail again stay.
     *
     * @throws request.invalid
     */
    @Post('replays')
    @HttpCode(200)
    replayMany(
      @Author() author: ChangeAuthor,
      @Query('type') type?: string,
      @Query('after') after?: string,
    ): Promise<ReplayedPage> {
      const selection = { from: 'table', ...(type === undefined ? {} : { type }) };
      return this.deadLetters.replayMany({ type, after }, auditReplays(this.audit, author, selection));
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
    replay(@Author() author: ChangeAuthor, @Param('messageId') messageId: string): Promise<void> {
      return this.deadLetters.replay(messageId, auditOne(this.audit, author, 'dead-letter.replayed'));
    }

    /**
     * Deletes a dead letter without handling it, for example because its effect was brought about by hand.
     *
     * @returns 204 The dead letter is deleted.
     * @throws resource.not-found
     */
    @Delete(':messageId')
    @HttpCode(204)
    drop(@Author() author: ChangeAuthor, @Param('messageId') messageId: string): Promise<void> {
      return this.deadLetters.drop(messageId, auditOne(this.audit, author, 'dead-letter.dropped'));
    }
  }
  return DeadLettersController;
}

/**
 * For administrators: the dead letters in RabbitMQ's own queue, which never reached a handler.
 */
export function createBrokerDeadLettersController(service: string): Type {
  @Controller(`admin/v1/dead-letters/${service}/broker`)
  @UseGuards(AdminKeyGuard)
  class BrokerDeadLettersController {
    constructor(
      @Inject(DeadLetters) private readonly deadLetters: DeadLetters,
      @Inject(AuditTrail) private readonly audit: AuditTrail,
    ) {}

    /** Counts the dead letters in RabbitMQ's queue. The count is 0 if all services run in one process. */
    @Get()
    async summariseInBroker(): Promise<BrokerDeadLetterSummary> {
      return (await this.deadLetters.inBroker?.summary()) ?? { count: 0, countMax: 0, oldest: null };
    }

    /**
     * Passes up to 1 000 dead letters of RabbitMQ to the handlers. Repeat the request while `replayed` is not 0.
     * Refused dead letters stay in the queue.
     *
     * @throws service.not-ready RabbitMQ is unavailable.
     */
    @Post('replays')
    @HttpCode(200)
    replayFromBroker(@Author() author: ChangeAuthor): Promise<BrokerReplay> {
      return this.deadLetters.replayFromBroker(auditReplays(this.audit, author, { from: 'broker' }));
    }
  }
  return BrokerDeadLettersController;
}
