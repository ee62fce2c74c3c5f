import { Controller, Inject } from '@nestjs/common';
import {
  type ChargeCard as ChargeCardCommand,
  ChargeCardV1,
  type ChargeInvoice as ChargeInvoiceCommand,
  ChargeInvoiceV1,
  CheckPaymentsV1,
  type HostedPaymentSnapshot,
  type PaymentSnapshot,
} from '@svc/contracts';
import { MessagePattern } from '@svc/messaging';
import { CheckPayments } from '../jobs/check-payments.js';
import { ChargeCard } from './charge-card.js';
import { ChargeInvoice } from './charge-invoice.js';

@Controller()
export class HostedPaymentsConsumer {
  constructor(
    @Inject(ChargeCard) private readonly chargeCard: ChargeCard,
    @Inject(ChargeInvoice) private readonly chargeInvoice: ChargeInvoice,
    @Inject(CheckPayments) private readonly checkPayments: CheckPayments,
  ) {}

  @MessagePattern(ChargeCardV1)
  async charge(command: ChargeCardCommand): Promise<HostedPaymentSnapshot> {
    // In this command the payable belongs to a hosted session, so the payment is a hosted payment.
    return (await this.chargeCard.execute(command)) as HostedPaymentSnapshot;
  }

  @MessagePattern(ChargeInvoiceV1)
  chargeForInvoice(command: ChargeInvoiceCommand): Promise<PaymentSnapshot> {
    return this.chargeInvoice.execute(command);
  }

  @MessagePattern(CheckPaymentsV1)
  check({ payableId }: { payableId: string }): Promise<PaymentSnapshot[]> {
    return this.checkPayments.execute(payableId);
  }
}
