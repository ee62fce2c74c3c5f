import { Inject, Injectable } from '@nestjs/common';
import { CheckPaymentsV1, type PaymentSnapshot } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { SessionRepository, type SessionWithPayments } from '../sessions/session.repository.js';

/** A payment that is younger is answered by its own call. */
const ASK_AFTER_MS = 2_000;
/** Longest that a page waits for news before it shows what is known. */
const WAIT_MS_MAX = 1_000;

/**
 * Somebody looks at a session of which the bank still owes an answer: an unknown outcome, or a payer who was sent to be
 * verified. Then payment-processor asks the bank now (P1). Whatever goes wrong with that, the page is shown as it is known.
 */
@Injectable()
export class AskForNews {
  private readonly asking = new Map<string, Promise<void>>();

  constructor(
    @Inject(SessionRepository) private readonly sessions: SessionRepository,
    @Inject(Commands) private readonly commands: Commands,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {}

  /** The session as it is known after asking, which is bounded in time. Costs nothing where there is nothing to ask. */
  async about(session: SessionWithPayments): Promise<SessionWithPayments> {
    if (!session.payments.some((payment) => this.isOwed(payment))) return session;
    await within(WAIT_MS_MAX, this.ask(session.sessionId));
    return (await this.sessions.findWithPayments(session.sessionId)) ?? session;
  }

  private isOwed({ state, modifiedUTCDate }: PaymentSnapshot): boolean {
    if (state === 'verificationRequired') return true;
    return state === 'processing' && Date.parse(modifiedUTCDate) <= this.clock.later(-ASK_AFTER_MS).getTime();
  }

  /** However many look at the same moment, one asks. */
  private ask(sessionId: string): Promise<void> {
    const asking =
      this.asking.get(sessionId) ??
      this.commands
        .request(CheckPaymentsV1, { payableId: sessionId })
        .then((payments) => this.sessions.keepPayments(payments))
        .catch((error: unknown) => this.log.info({ err: error }, 'no news of a payment, the page shows what is known'))
        .finally(() => this.asking.delete(sessionId));
    this.asking.set(sessionId, asking);
    return asking;
  }
}

async function within(milliseconds: number, promise: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => (timer = setTimeout(resolve, milliseconds)));
  await Promise.race([promise, over]);
  clearTimeout(timer);
}
