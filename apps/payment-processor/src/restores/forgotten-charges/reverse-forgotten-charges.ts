import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { Acquirers } from '../../acquirers/acquirers.js';
import { AcquirerJobs } from '../../acquirers/availability/acquirer-jobs.js';
import { type ForgottenCharge, ForgottenChargeRepository } from './forgotten-charge.repository.js';

const POLL_MS = 5_000;
const BATCH_SIZE = 50;
/** Lease of a charge; also the delay until an unconfirmed reversal is requested again. */
export const REVERSAL_LEASE_MS = 30_000;

/** Reverses charges that a restore has forgotten, until the acquirer confirms. A repeated request changes nothing. */
@Injectable()
export class ReverseForgottenCharges implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly jobs: AcquirerJobs;

  constructor(
    @Inject(ForgottenChargeRepository) private readonly charges: ForgottenChargeRepository,
    @Inject(Acquirers) private readonly acquirers: Acquirers,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {
    const runStep = async (acquirer: string): Promise<boolean> => (await this.runStep(acquirer)) === BATCH_SIZE;
    this.jobs = new AcquirerJobs('reversal of forgotten charges', POLL_MS, log, acquirers, runStep);
  }

  onApplicationBootstrap(): void {
    this.jobs.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.jobs.stop();
  }

  /** Requests the due reversals of this acquirer, at most one batch. Returns their number. */
  async runStep(acquirer: string): Promise<number> {
    const due = await this.charges.leaseDue(acquirer, this.clock.later(REVERSAL_LEASE_MS), BATCH_SIZE);
    await Promise.all(due.map((charge) => this.reverse(charge)));
    return due.length;
  }

  private async reverse(charge: ForgottenCharge): Promise<void> {
    const { chargeId: chargeKey, mode, accountReference, paymentReference } = charge;
    const account = { mode, accountReference };
    const { kind } = await this.acquirers.get(charge.acquirer).reverse({ account, chargeKey, paymentReference });
    // The statement contains the charge, so `neverCharged` contradicts it. The reversal stays open, and is reported.
    if (kind === 'neverCharged')
      this.log.error({ paymentReference, chargeKey }, 'the acquirer contradicts its statement: it has not charged');
    if (kind === 'reversed' && (await this.charges.confirm(charge)))
      this.log.warn({ paymentReference }, 'a charge that a restore had forgotten was reversed');
  }
}
