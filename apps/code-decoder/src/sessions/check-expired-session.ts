import { Inject, Injectable } from '@nestjs/common';
import { FindPayableV1 } from '@svc/contracts';
import { Commands } from '@svc/messaging';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';

/** Longest that a caller waits for payment-processor, which answers from its own table. */
const ANSWER_MS_MAX = 2_000;

/**
 * A session does not expire while a payment runs (H2, D3). payment-processor alone knows whether one does, so it is asked
 * about each session that is past its expiry, and about no other (docs/adr/0033). Without an answer the session is expired:
 * our own codes are decoded whatever else is down.
 */
@Injectable()
export class CheckExpiredSession {
  constructor(
    @Inject(Commands) private readonly commands: Commands,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {}

  async execute(sessionId: string): Promise<'open' | 'closed' | 'expired'> {
    const { payable } = await this.commands
      .request(FindPayableV1, { payableId: sessionId }, ANSWER_MS_MAX)
      .catch((error: unknown) => {
        this.log.info({ err: error, sessionId }, 'no reply about an expired session, it is shown as expired');
        return { payable: undefined };
      });
    if (payable?.state === 'reserved') return 'open';
    // One that nobody paid is still open there. Any other state is final, and its event is on the way.
    return payable === undefined || payable.state === 'open' ? 'expired' : 'closed';
  }
}
