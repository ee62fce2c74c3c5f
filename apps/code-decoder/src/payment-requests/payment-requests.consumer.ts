import { Controller, Inject } from '@nestjs/common';
import {
  type CancelPaymentRequest as CancelPaymentRequestCommand,
  CancelPaymentRequestV1,
  type CreatedPaymentRequest,
  type CreatePaymentRequest as CreatePaymentRequestCommand,
  CreatePaymentRequestV1,
} from '@svc/contracts';
import { MessagePattern } from '@svc/messaging';
import { CancelPaymentRequest } from './cancel-payment-request.js';
import { CreatePaymentRequest } from './create-payment-request.js';

/** Payment requests by people of the merchant, in the console (D7). */
@Controller()
export class PaymentRequestsConsumer {
  constructor(
    @Inject(CreatePaymentRequest) private readonly createRequest: CreatePaymentRequest,
    @Inject(CancelPaymentRequest) private readonly cancelRequest: CancelPaymentRequest,
  ) {}

  @MessagePattern(CreatePaymentRequestV1)
  create(command: CreatePaymentRequestCommand): Promise<CreatedPaymentRequest> {
    return this.createRequest.execute(command);
  }

  @MessagePattern(CancelPaymentRequestV1)
  async cancel(command: CancelPaymentRequestCommand): Promise<{ cancelled: true }> {
    await this.cancelRequest.execute(command);
    return { cancelled: true };
  }
}
