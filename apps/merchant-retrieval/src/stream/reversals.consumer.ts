import { Controller, Inject } from '@nestjs/common';
import { type AnyPaymentSnapshot, type EventEnvelope, PaymentReversedV1 } from '@svc/contracts';
import { hasNotice } from '@svc/kernel';
import { EventPattern } from '@svc/messaging';
import { NoticeRepository } from './notice.repository.js';

/**
 * Sends automatic reversals as refunds on the stream (M6). The payments themselves stay as they are (M5). Replay: a notice
 * that was written before is left out.
 */
@Controller()
export class ReversalsConsumer {
  constructor(@Inject(NoticeRepository) private readonly notices: NoticeRepository) {}

  @EventPattern(PaymentReversedV1, { repeatable: true })
  onReversed(events: EventEnvelope<AnyPaymentSnapshot>[]): Promise<void> {
    return this.notices.keep(events.filter(({ payload }) => hasNotice(payload)));
  }
}
