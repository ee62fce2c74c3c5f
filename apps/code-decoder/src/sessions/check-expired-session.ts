import { Inject, Injectable } from '@nestjs/common';
import { FindPayableV1 } from '@svc/contracts';
import { Commands } from '@svc/messaging';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';

/** A caller waits at most this long for payment-processor, which reads the answer from its own table. */
const RESPONSE_TIMEOUT_MS = 2_000;

/**
 * A session does not expire while a payment is in progress (H2, D3). Only payment-processor knows this, so it is queried
 * for each session past its expiry, and for no other (docs/adr/0033). Without a reply the session counts as expired:
 * our own codes must be decoded even if other services are down.
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
    // An unpaid payable is still open there. Any other state is final, and its event will arrive soon.
    return payable === undefined || payable.state === 'open' ? 'expired' : 'closed';
  }
}
