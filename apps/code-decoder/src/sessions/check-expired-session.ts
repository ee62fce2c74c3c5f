import { Inject, Injectable } from '@nestjs/common';
import { FindPayableV1 } from '@svc/contracts';
import { Commands } from '@svc/messaging';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';

/** Timeout for the response of payment-processor. It is short, because payment-processor only reads one row. */
const RESPONSE_TIMEOUT_MS = 2_000;

/**
 * Queries payment-processor for the state of a session past its expiry. A session does not expire while a payment is in
 * progress (H2, D3), and this service does not store whether a payment is in progress (docs/adr/0033). If
 * payment-processor does not respond, the session counts as expired, because decoding must work even if other services
 * are down.
 */
@Injectable()
export class CheckExpiredSession {
  constructor(
    @Inject(Commands) private readonly commands: Commands,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {}

  async execute(sessionId: string): Promise<'open' | 'closed' | 'expired'> {
    const { payable } = await this.commands
      .request(FindPayableV1, { payableId: sessionId }, RESPONSE_TIMEOUT_MS)
      .catch((error: unknown) => {
        this.log.info({ err: error, sessionId }, 'no reply about an expired session, it is shown as expired');
        return { payable: undefined };
      });
    if (payable?.state === 'reserved') return 'open';
    // In payment-processor, the payable of an unpaid session stays open after its expiry. Any other state is final.
    return payable === undefined || payable.state === 'open' ? 'expired' : 'closed';
  }
}
