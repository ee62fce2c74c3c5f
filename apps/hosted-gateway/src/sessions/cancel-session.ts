import { Inject, Injectable } from '@nestjs/common';
import { ClosePayableV1 } from '@svc/contracts';
import { DomainError, isUuid } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import { describePayable } from './session.js';
import { type SessionOwner, SessionRepository } from './session.repository.js';

/** Closes the session for payments (H2). Rejected while a payment is in progress and after a payment succeeded. */
@Injectable()
export class CancelSession {
  constructor(
    @Inject(SessionRepository) private readonly sessions: SessionRepository,
    @Inject(Commands) private readonly commands: Commands,
  ) {}

  async execute(owner: SessionOwner, sessionId: string): Promise<void> {
    const session = isUuid(sessionId) ? await this.sessions.findOwned(owner, sessionId) : undefined;
    if (!session)
      throw new DomainError('resource.not-found', {
        message: 'There is no such session of this merchant, site and mode (test or live).',
      });
    const closed = await this.commands.request(ClosePayableV1, { payable: describePayable(session) });
    await this.sessions.updatePayable(closed);
  }
}
