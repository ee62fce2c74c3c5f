import { Inject, Injectable } from '@nestjs/common';
import { ChargeCardV1, type PaymentSnapshot } from '@svc/contracts';
import { Clock, DomainError } from '@svc/kernel';
import { Commands, continueTrace, REQUEST_TIMEOUT_MS } from '@svc/messaging';
import { HostedGatewayConfig } from '../config.js';
import { pageUrlOf, type PayerAddress } from '../sessions/payer-address.js';
import { payableOf } from '../sessions/session.js';
import { SessionRepository, type SessionWithPayments, withPayment } from '../sessions/session.repository.js';
import { PressesUnderWay } from './presses-under-way.js';

/** What the page sends. */
export interface PressOfPay {
  readonly reference: string;
  readonly try: number;
  readonly encryptedCard: string;
}

/** The payment, and the session as it is known after it. */
export interface PressOutcome {
  readonly payment: PaymentSnapshot;
  readonly session: SessionWithPayments;
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
    @Inject(PressesUnderWay) private readonly underWay: PressesUnderWay,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(HostedGatewayConfig) private readonly config: HostedGatewayConfig,
  ) {}

  async execute(address: PayerAddress, press: PressOfPay): Promise<PressOutcome> {
    const session = await this.sessions.findAt(address);
    if (!session) throw new DomainError('resource.not-found', { message: 'There is no such session.' });
    const pay = (): Promise<PressOutcome> => this.pay(session, address, press);
    return this.underWay.during(session.sessionId, press.try, () =>
      continueTrace(session.traceparent, 'pay session', pay),
    );
  }

  private async pay(session: SessionWithPayments, address: PayerAddress, press: PressOfPay): Promise<PressOutcome> {
    const payment = await this.commands.request(ChargeCardV1, {
      payable: payableOf(session),
      reference: press.reference,
      try: press.try,
      encryptedCard: press.encryptedCard,
      payerReturnUrl: pageUrlOf(address, this.config),
      deadline: this.clock.later(REQUEST_TIMEOUT_MS).toISOString(),
    });
    await this.sessions.keepPayment(payment);
    return { payment, session: withPayment(session, payment) };
  }
}
