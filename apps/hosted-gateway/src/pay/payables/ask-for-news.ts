import { Inject, Injectable } from '@nestjs/common';
import { type AnyPaymentSnapshot, CheckPaymentsV1 } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { payableIdOf, type ShownPayable } from './shown-payable.js';
import { ShownPayables } from './shown-payables.js';

/** A payment that is younger is answered by its own call. */
const ASK_AFTER_MS = 2_000;
/** Longest that a page waits for news before it shows what is known. */
const WAIT_MS_MAX = 1_000;

/**
 * Somebody looks at a session or an invoice of which the bank still owes an answer: an unknown outcome, or a payer who was sent to be
 * verified. Then payment-processor asks the bank now (P1). Whatever goes wrong with that, they see what is known.
 */
@Injectable()
export class AskForNews {
  private readonly asking = new Map<string, Promise<void>>();

  constructor(
    @Inject(ShownPayables) private readonly shownPayables: ShownPayables,
    @Inject(Commands) private readonly commands: Commands,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {}

  /** What is known after asking, which is bounded in time. Costs nothing where there is nothing to ask. */
  async about<Shown extends ShownPayable>(shown: Shown): Promise<Shown> {
    if (!shown.payments.some((payment) => this.isOwed(payment))) return shown;
    await within(WAIT_MS_MAX, this.ask(payableIdOf(shown)));
    return this.shownPayables.findAgain(shown);
  }

  /** As {@link about}, for a merchant who looks at one payment. Whether it was asked about. */
  async aboutPayment(payment: AnyPaymentSnapshot): Promise<boolean> {
    if (!this.isOwed(payment)) return false;
    await within(WAIT_MS_MAX, this.ask(payment.payable.payableId));
    return true;
  }

  private isOwed({ state, modifiedUTCDate }: AnyPaymentSnapshot): boolean {
    if (state === 'verificationRequired') return true;
    return state === 'processing' && Date.parse(modifiedUTCDate) <= this.clock.later(-ASK_AFTER_MS).getTime();
  }

  /** However many look at the same moment, one asks. */
  private ask(payableId: string): Promise<void> {
    const asking =
      this.asking.get(payableId) ??
      this.commands
        .request(CheckPaymentsV1, { payableId })
        .then((payments) => this.shownPayables.keepPayments(payments))
        .catch((error: unknown) =>
          this.log.info({ err: error }, 'payment update unavailable, the page shows the last known state'),
        )
        .finally(() => this.asking.delete(payableId));
    this.asking.set(payableId, asking);
    return asking;
  }
}

async function within(milliseconds: number, promise: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => (timer = setTimeout(resolve, milliseconds)));
  await Promise.race([promise, over]);
  clearTimeout(timer);
}
