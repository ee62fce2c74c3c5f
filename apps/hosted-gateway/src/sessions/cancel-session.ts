import { Inject, Injectable } from '@nestjs/common';
import { ClosePayableV1 } from '@svc/contracts';
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
    const session = await this.sessions.getOwned(owner, sessionId);
    const closed = await this.commands.request(ClosePayableV1, { payable: describePayable(session) });
    await this.sessions.updatePayable(closed);
  }
}
