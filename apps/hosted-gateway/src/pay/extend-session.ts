import { Inject, Injectable } from '@nestjs/common';
import { Clock, DomainError } from '@svc/kernel';
import type { PayerAddress } from '../sessions/payer-address.js';
import { determineSessionState, SESSION_EXTENSION_MS, SESSION_WARNING_MS } from '../sessions/session.js';
import { SessionRepository } from '../sessions/session.repository.js';

/**
 * Extends a session, once and in its last minutes (H2, WCAG 2.2.1). An event reports the new expiry to the services
 * that accept payments of the session, minutes before the old expiry. Does nothing if the session cannot be extended:
 * the caller shows the current state of the session in any case.
 */
@Injectable()
export class ExtendSession {
  constructor(
    @Inject(SessionRepository) private readonly sessions: SessionRepository,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  async execute(address: PayerAddress): Promise<void> {
    const session = await this.sessions.findByAddress(address);
    if (!session) throw new DomainError('resource.not-found', { message: 'There is no such session.' });
    const now = this.clock.now();
    const isEnding = session.expiresAt.getTime() - now.getTime() <= SESSION_WARNING_MS;
    if (determineSessionState(session, now) !== 'open' || session.extended || !isEnding) return;
    await this.sessions.extend(session, new Date(session.expiresAt.getTime() + SESSION_EXTENSION_MS));
  }
}
