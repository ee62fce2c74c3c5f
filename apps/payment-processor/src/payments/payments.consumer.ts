import { Controller, Inject } from '@nestjs/common';
import {
  type ChargeCard as ChargeCardCommand,
  ChargeCardV1,
  CheckPaymentsV1,
  type PaymentSnapshot,
} from '@svc/contracts';
import { MessagePattern } from '@svc/messaging';
import { ChargeCard } from './charge-card.js';
import { CheckPayments } from './check-payments.js';

@Controller()
export class PaymentsConsumer {
  constructor(
    @Inject(ChargeCard) private readonly chargeCard: ChargeCard,
    @Inject(CheckPayments) private readonly checkPayments: CheckPayments,
  ) {}

  @MessagePattern(ChargeCardV1)
  charge(command: ChargeCardCommand): Promise<PaymentSnapshot> {
    return this.chargeCard.execute(command);
  }

  @MessagePattern(CheckPaymentsV1)
  check({ payableId }: { payableId: string }): Promise<PaymentSnapshot[]> {
    return this.checkPayments.execute(payableId);
  }
}
