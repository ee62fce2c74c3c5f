import { Inject, Injectable } from '@nestjs/common';
import { CheckPaymentsV1, type PaymentSnapshot } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { type PagePayable, payableIdOf } from './page-payable.js';
import { PagePayableRepository } from './page-payable.repository.js';

/** A younger payment is not refreshed: the reply to its own charge command is still expected. */
const MIN_AGE_MS = 2_000;
/** A page waits at most this long for the refresh, then it shows the last known state. */
const MAX_WAIT_MS = 1_000;

/**
 * When a payer or a merchant reads a session or an invoice with an unfinished payment (unknown result, or verification in progress),
 * payment-processor queries the bank immediately (P1). If this fails, the caller gets the last known state.
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

  /** Refreshes unfinished payments, within a time limit, and returns the newest state. Without unfinished payments it costs nothing. */
  async refresh<P extends PagePayable>(payable: P): Promise<P> {
    if (!payable.payments.some((payment) => this.needsRefresh(payment))) return payable;
    await within(MAX_WAIT_MS, this.requestRefresh(payableIdOf(payable)));
    return this.payables.reload(payable);
  }

  /** Same as {@link refresh}, for a merchant that reads one payment. True if the payment was refreshed. */
  async refreshPayment(payment: PaymentSnapshot): Promise<boolean> {
    if (!this.needsRefresh(payment)) return false;
    await within(MAX_WAIT_MS, this.requestRefresh(payment.payable.payableId));
    return true;
  }

  private needsRefresh({ state, modifiedUTCDate }: PaymentSnapshot): boolean {
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

async function within(milliseconds: number, promise: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => (timer = setTimeout(resolve, milliseconds)));
  await Promise.race([promise, over]);
  clearTimeout(timer);
}
