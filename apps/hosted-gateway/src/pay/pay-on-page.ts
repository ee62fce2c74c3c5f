import { Inject, Injectable } from '@nestjs/common';
import { ChargeCardV1, type PaymentSnapshot } from '@svc/contracts';
import { Clock, DomainError, isUuid } from '@svc/kernel';
import { Commands, continueTrace, REQUEST_TIMEOUT_MS } from '@svc/messaging';
import { payableOf } from '../sessions/session.js';
import { SessionRepository, type SessionWithPayments, withPayment } from '../sessions/session.repository.js';

/** What the page sends. */
export interface PressOfPay {
  readonly reference: string;
  readonly try: number;
  readonly encryptedCard: string;
}

/**
 * One press of Pay. The card passes through encrypted: this service cannot open it and keeps nothing of it. What
 * came of it is kept before the page is answered, so that the merchant can read it before the payer returns (H3).
 */
@Injectable()
export class PayOnPage {
  constructor(
    @Inject(SessionRepository) private readonly sessions: SessionRepository,
    @Inject(Commands) private readonly commands: Commands,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** The payment, and the session as it is known after it. */
  async execute(
    sessionId: string,
    press: PressOfPay,
  ): Promise<{ payment: PaymentSnapshot; session: SessionWithPayments }> {
    const session = isUuid(sessionId) ? await this.sessions.findWithPayments(sessionId) : undefined;
    if (!session) throw new DomainError('resource.not-found', { message: 'There is no such session.' });
    return continueTrace(session.traceparent, 'pay session', () => this.pay(session, press));
  }

  private async pay(
    session: SessionWithPayments,
    press: PressOfPay,
  ): Promise<{ payment: PaymentSnapshot; session: SessionWithPayments }> {
    const payment = await this.commands.request(ChargeCardV1, {
      payable: payableOf(session),
      reference: press.reference,
      try: press.try,
      encryptedCard: press.encryptedCard,
      deadline: this.clock.later(REQUEST_TIMEOUT_MS).toISOString(),
    });
    await this.sessions.keepPayments([payment]);
    return { payment, session: withPayment(session, payment) };
  }
}
