import { Controller, Inject } from '@nestjs/common';
import {
  type ChargeCard as ChargeCardCommand,
  ChargeCardV1,
  CheckPaymentsV1,
  isHosted,
  type PaymentSnapshot,
} from '@svc/contracts';
import { MessagePattern } from '@svc/messaging';
import { ChargeCard } from './charge-card.js';
import { CheckPayments } from '../jobs/check-payments.js';

@Controller()
export class HostedPaymentsConsumer {
  constructor(
    @Inject(ChargeCard) private readonly chargeCard: ChargeCard,
    @Inject(CheckPayments) private readonly checkPayments: CheckPayments,
  ) {}

  @MessagePattern(ChargeCardV1)
  async charge(command: ChargeCardCommand): Promise<PaymentSnapshot> {
    // A payment is of its payable's source, and the command says which.
    return (await this.chargeCard.execute(command)) as PaymentSnapshot;
  }

  @MessagePattern(CheckPaymentsV1)
  async check({ payableId }: { payableId: string }): Promise<PaymentSnapshot[]> {
    return (await this.checkPayments.execute(payableId)).filter(isHosted);
  }
}
