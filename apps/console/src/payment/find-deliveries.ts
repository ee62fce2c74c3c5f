import { Inject, Injectable } from '@nestjs/common';
import { type DeliveryOwner, type DeliveryWithAttempts, GetDeliveryV1 } from '@svc/contracts';
import { DomainError, notificationIdOf, siteDeliveryIdOf } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import type { PaymentDetails } from './find-payment.query.js';

/** Refunds whose webhooks are shown. */
const MAX_REFUNDS = 10;

/**
 * Reads the webhooks of a payment from webhook-dispatcher, which alone stores their attempts. Their ids are derived from
 * the payment and its refunds, so nothing has to be searched.
 */
@Injectable()
export class FindDeliveries {
  constructor(@Inject(Commands) private readonly commands: Commands) {}

  /** @returns undefined while webhook-dispatcher does not respond */
  async execute(payment: PaymentDetails): Promise<DeliveryWithAttempts[] | undefined> {
    const { merchantId, siteId, mode } = payment;
    try {
      const found = await Promise.all(listIds(payment).map((id) => this.find({ merchantId, siteId, mode }, id)));
      return found.filter((delivery) => delivery !== undefined);
    } catch (error) {
      if (error instanceof DomainError && error.entry.httpStatus >= 500) return undefined;
      throw error;
    }
  }

  private async find(owner: DeliveryOwner, id: string): Promise<DeliveryWithAttempts | undefined> {
    try {
      return await this.commands.request(GetDeliveryV1, { owner, id });
    } catch (error) {
      if (error instanceof DomainError && error.code === 'resource.not-found') return undefined;
      throw error;
    }
  }
}

function listIds(payment: PaymentDetails): string[] {
  const webhookId = notificationIdOf(payment);
  const refunds = payment.refunds.slice(-MAX_REFUNDS);
  return [
    webhookId,
    siteDeliveryIdOf(webhookId, payment.paymentUTCDate),
    ...refunds.map(({ refundReference, createdUTCDate }) => siteDeliveryIdOf(refundReference, createdUTCDate)),
  ];
}
