import { Inject, Injectable } from '@nestjs/common';
import { SvcApiError } from '@svc/sdk';
import { rands } from '../answers/answer.js';
import { AlertRepository } from '../platform/alert.repository.js';
import type { CallHandler, TryResult } from '../platform/call-handler.js';
import { classifyFailure } from '../platform/failure.js';
import type { OutgoingCall } from '../platform/outgoing-call.repository.js';
import { Platform } from '../platform/platform.js';
import { Changes } from '../store/changes.js';
import type { Tx } from '../store/store.js';
import { RefundRepository } from './refund.repository.js';

/** Asks the platform for refunds. A repeat is harmless: it has the Idempotency-Key that was stored before the first try. */
@Injectable()
export class RefundCalls implements CallHandler {
  constructor(
    @Inject(Platform) private readonly platform: Platform,
    @Inject(RefundRepository) private readonly refunds: RefundRepository,
    @Inject(AlertRepository) private readonly alerts: AlertRepository,
    @Inject(Changes) private readonly changes: Changes,
  ) {}

  async send(call: OutgoingCall, isAwaited: () => boolean): Promise<TryResult> {
    const { svcId, amountCents, idempotencyKey, refundId } = this.refunds.get(call.refundId!);
    try {
      const { status, refundReference } = await this.platform
        .refunds(call.siteId)
        .refund(svcId, { idempotencyKey, amount: amountCents });
      const write = (tx: Tx): void => {
        this.refunds.keepOutcome(tx, refundId, { state: status, refundReference });
        if (status === 'failed' && !isAwaited()) this.alertOf(tx, call, 'was not made: The bank declined it');
      };
      return { kind: 'done', write };
    } catch (error) {
      const failure = classifyFailure(error);
      if (failure.kind !== 'refused' && failure.kind !== 'not-found') return { kind: 'failed', failure };
      // A proxy's refusal tells nothing about the tries before: the refund may have been made.
      if (!(error instanceof SvcApiError) || error.code === undefined)
        return { kind: 'failed', failure: { kind: 'later', message: failure.message } };
      const write = (tx: Tx): void => {
        this.refunds.keepOutcome(tx, refundId, { state: 'refused', refusal: failure.message });
        if (!isAwaited()) this.alertOf(tx, call, `was not made: ${failure.message}`);
      };
      return { kind: 'refused', reason: failure, write };
    }
  }

  /** A try may have reached the platform, so the refund still counts: a press of the cashier must not give the money twice. */
  giveUp(tx: Tx, call: OutgoingCall, message: string): void {
    this.refunds.keepOutcome(tx, call.refundId!, { state: 'pending', refusal: message });
    this.alertOf(tx, call, `may have been made or not. Ask for it at the payment service. ${message}`);
  }

  private alertOf(tx: Tx, call: OutgoingCall, outcome: string): void {
    const { svcId, amountCents } = this.refunds.get(call.refundId!, tx);
    this.alerts.append(tx, call.siteId, '', `The refund of ${rands(amountCents)} for ${svcId} ${outcome}`);
    this.changes.notify(call.siteId);
  }
}
