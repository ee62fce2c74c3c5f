import { Inject, Injectable } from '@nestjs/common';
import type { Mode } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import type { ChargeRoute } from '../acquirers.js';
import { AcquirerCircuit } from './acquirer-circuit.js';
import { PerAcquirer } from './per-acquirer.js';

/** The circuit breakers of this process, one for each acquirer and mode. */
@Injectable()
export class AcquirerCircuits {
  private readonly circuits: PerAcquirer<AcquirerCircuit>;
  private readonly openListeners: ((acquirer: string, mode: Mode) => void)[] = [];

  constructor(@Inject(Clock) clock: Clock, @Inject(SERVICE_LOG) log: ServiceLog) {
    this.circuits = new PerAcquirer(
      (acquirer, mode) =>
        new AcquirerCircuit(clock, (state) => {
          if (state === 'open') {
            log.error(
              { acquirer, mode },
              'the acquirer does not respond: its circuit is open, charges fail without a call',
            );
            for (const listener of this.openListeners) listener(acquirer, mode);
          } else log.info({ acquirer, mode }, 'the acquirer responds again: its circuit is closed');
        }),
    );
  }

  /** The listener is called when a circuit opens. */
  addOpenListener(listener: (acquirer: string, mode: Mode) => void): void {
    this.openListeners.push(listener);
  }

  get({ acquirer, account: { mode } }: ChargeRoute): AcquirerCircuit {
    return this.circuits.get(acquirer, mode);
  }

  entries(): ReturnType<PerAcquirer<AcquirerCircuit>['entries']> {
    return this.circuits.entries();
  }
}
