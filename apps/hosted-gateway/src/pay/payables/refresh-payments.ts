import { Inject, Injectable } from '@nestjs/common';
import { CheckPaymentsV1 } from '@svc/contracts';
import { Clock, withDeadline } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import type { PaymentCopy } from '../../payment-copies/payment-copy.js';
import { getPayableId, type PagePayable } from './page-payable.js';
import { PagePayableRepository } from './page-payable.repository.js';

/**
 * A processing payment is not refreshed for this time after its last change: the reply to its charge command is still
 * expected.
 */
const MIN_AGE_MS = 2_000;
/** Timeout of a refresh. After it the caller gets the last known state. */
const TIMEOUT_MS = 1_000;

/**
 * Refreshes unfinished payments (unknown result, or verification in progress) when a payer or a merchant reads the
 * session or invoice: payment-processor queries the bank immediately (P1). If this fails, the caller gets the last
 * known state.
 */
@Injectable()
export class RefreshPayments {
  private readonly inFlight = new Map<string, Promise<void>>();

  constructor(
    @Inject(PagePayableRepository) private readonly payables: PagePayableRepository,
    @Inject(Commands) private readonly commands: Commands,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {}

  /**
   * Refreshes unfinished payments within the timeout, and returns the newest state. Sends no request if there are no
   * unfinished payments.
   */
  async refresh<P extends PagePayable>(payable: P): Promise<P> {
    if (!payable.payments.some((payment) => this.needsRefresh(payment))) return payable;
    await withDeadline(this.requestRefresh(getPayableId(payable)), TIMEOUT_MS, () => undefined);
    return this.payables.reload(payable);
  }

  /** Refreshes one payment if it is unfinished. Returns false if no refresh was needed. */
  async refreshPayment(payment: PaymentCopy): Promise<boolean> {
    if (!this.needsRefresh(payment)) return false;
    await withDeadline(this.requestRefresh(payment.payable.payableId), TIMEOUT_MS, () => undefined);
    return true;
  }

  private needsRefresh({ state, modifiedUTCDate }: PaymentCopy): boolean {
    if (state === 'verificationRequired') return true;
    return state === 'processing' && Date.parse(modifiedUTCDate) <= this.clock.later(-MIN_AGE_MS).getTime();
  }

  /** Concurrent callers share one request for each payable. */
  private requestRefresh(payableId: string): Promise<void> {
    const request =
      this.inFlight.get(payableId) ??
      this.commands
        .request(CheckPaymentsV1, { payableId })
        .then((payments) => this.payables.upsertPayments(payments))
        .catch((error: unknown) =>
          this.log.info({ err: error }, 'payment update unavailable, the page shows the last known state'),
        )
        .finally(() => this.inFlight.delete(payableId));
    this.inFlight.set(payableId, request);
    return request;
  }
}
