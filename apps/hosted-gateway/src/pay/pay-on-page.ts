import { Inject, Injectable } from '@nestjs/common';
import { ChargeCardV1, type PaymentSnapshot } from '@svc/contracts';
import { Clock, DomainError, isUuid } from '@svc/kernel';
import { Commands, REQUEST_TIMEOUT_MS } from '@svc/messaging';
import { DataSource } from 'typeorm';
import { payableOf } from '../sessions/session.js';
import { SessionRepository } from '../sessions/session.repository.js';

/**
 * One press of Pay. The card passes through encrypted: this service cannot open it and keeps nothing of it. What
 * came of it is kept before the page is answered, so that the merchant can read it before the payer returns (H3).
 */
@Injectable()
export class PayOnPage {
  constructor(
    @Inject(SessionRepository) private readonly sessions: SessionRepository,
    @Inject(Commands) private readonly commands: Commands,
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  async execute(
    sessionId: string,
    press: { reference: string; try: number; encryptedCard: string },
  ): Promise<PaymentSnapshot> {
    const session = isUuid(sessionId) ? await this.sessions.findForPayer(sessionId) : undefined;
    if (!session) throw new DomainError('resource.not-found', { message: 'There is no such session.' });
    const payment = await this.commands.request(ChargeCardV1, {
      payable: payableOf(session),
      reference: press.reference,
      try: press.try,
      encryptedCard: press.encryptedCard,
      deadline: this.clock.later(REQUEST_TIMEOUT_MS).toISOString(),
    });
    await this.sessions.keepPayments(this.dataSource, [payment]);
    return payment;
  }
}
