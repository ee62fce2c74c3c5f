import { Inject, Injectable } from '@nestjs/common';
import { formatRands } from '@svc/kernel';
import { SvcApiError } from '@svc/sdk';
import { AlertRepository } from '../platform/alert.repository.js';
import type { AttemptResult, CallHandler } from '../platform/call-handler.js';
import { classifyFailure } from '../platform/failure.js';
import type { OutgoingCall } from '../platform/outgoing-call.repository.js';
import { Platform } from '../platform/platform.js';
import { ChangeNotifier } from '../store/change-notifier.js';
import type { Tx } from '../store/store.js';
import { RefundRepository } from './refund.repository.js';

/**
 * Requests refunds from the platform. A retry is harmless: it sends the Idempotency-Key that was stored before the
 * first attempt.
 */
@Injectable()
export class RefundCalls implements CallHandler {
  constructor(
    @Inject(Platform) private readonly platform: Platform,
    @Inject(RefundRepository) private readonly refunds: RefundRepository,
    @Inject(AlertRepository) private readonly alerts: AlertRepository,
    @Inject(ChangeNotifier) private readonly changes: ChangeNotifier,
  ) {}

  async send(call: OutgoingCall, isAwaited: () => boolean): Promise<AttemptResult> {
    const { svcId, amountCents, idempotencyKey, refundId } = this.refunds.get(call.refundId!);
    try {
      const { status, refundReference } = await this.platform
        .refundClient(call.siteId)
        .refund(svcId, { idempotencyKey, amount: amountCents });
      const write = (tx: Tx): void => {
        this.refunds.setOutcome(tx, refundId, { state: status, refundReference });
        if (status === 'failed' && !isAwaited()) this.appendAlert(tx, call, 'was not made: The bank declined it');
      };
      return { kind: 'done', write };
    } catch (error) {
      const failure = classifyFailure(error);
      if (failure.kind !== 'refused' && failure.kind !== 'not-found') return { kind: 'failed', failure };
      // An error without the platform's code comes from a proxy. An earlier attempt may have created the refund, so
      // retry.
      if (!(error instanceof SvcApiError) || error.code === undefined)
        return { kind: 'failed', failure: { kind: 'later', message: failure.message } };
      const write = (tx: Tx): void => {
        this.refunds.setOutcome(tx, refundId, { state: 'refused', refusal: failure.message });
        if (!isAwaited()) this.appendAlert(tx, call, `was not made: ${failure.message}`);
      };
      return { kind: 'refused', reason: failure, write };
    }
  }

  /**
   * The refund stays pending, because an attempt may have reached the platform. A repeat by the cashier must not refund
   * twice.
   */
  giveUp(tx: Tx, call: OutgoingCall, message: string): void {
    this.refunds.setOutcome(tx, call.refundId!, { state: 'pending', refusal: message });
    this.appendAlert(tx, call, `may have been made or not. Check it with the payment service. ${message}`);
  }

  private appendAlert(tx: Tx, call: OutgoingCall, outcome: string): void {
    const { svcId, amountCents } = this.refunds.get(call.refundId!, tx);
    this.alerts.append(tx, call.siteId, '', `The refund of ${formatRands(amountCents)} for ${svcId} ${outcome}`);
    this.changes.notify(call.siteId);
  }
}
