import { Controller, Inject } from '@nestjs/common';
import { type ChargeCard as ChargeCardCommand, ChargeCardV1, type PaymentSnapshot } from '@svc/contracts';
import { MessagePattern } from '@svc/messaging';
import { ChargeCard } from './charge-card.js';

@Controller()
export class PaymentsConsumer {
  constructor(@Inject(ChargeCard) private readonly chargeCard: ChargeCard) {}

  @MessagePattern(ChargeCardV1)
  charge(command: ChargeCardCommand): Promise<PaymentSnapshot> {
    return this.chargeCard.execute(command);
  }
}
