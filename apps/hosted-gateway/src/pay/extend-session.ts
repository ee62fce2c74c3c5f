import { Inject, Injectable } from '@nestjs/common';
import { Clock, DomainError } from '@svc/kernel';
import type { PayerAddress } from '../sessions/payer-address.js';
import { SESSION_ENDING_MS, SESSION_EXTENSION_MS, sessionState } from '../sessions/session.js';
import { SessionRepository } from '../sessions/session.repository.js';

/**
 * More time for a payer, once and in the last minutes of a session (H2, WCAG 2.2.1). The services that accept payments of the
 * session learn of it by an event, which they have minutes before the time that they knew is over. Changes nothing where
 * there is no more time to give: whoever asked looks at the session again.
 */
@Injectable()
export class ExtendSession {
  constructor(
    @Inject(SessionRepository) private readonly sessions: SessionRepository,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  async execute(address: PayerAddress): Promise<void> {
    const session = await this.sessions.findAt(address);
    if (!session) throw new DomainError('resource.not-found', { message: 'There is no such session.' });
    const now = this.clock.now();
    const isEnding = session.expiresAt.getTime() - now.getTime() <= SESSION_ENDING_MS;
    if (sessionState(session, now) !== 'open' || session.extended || !isEnding) return;
    await this.sessions.extend(session, new Date(session.expiresAt.getTime() + SESSION_EXTENSION_MS));
  }
}
