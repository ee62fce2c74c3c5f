import { Inject, Injectable } from '@nestjs/common';
import { Signal } from '@svc/messaging';
import {
  DataSource,
  type EntityManager,
  type EntitySubscriberInterface,
  EventSubscriber,
  type TransactionCommitEvent,
} from 'typeorm';

const DUE = 'svc.webhooks.due';

/**
 * Wakes the worker of this process when something became due. Only a matter of speed: what is due is in the
 * database, and the worker looks there at every poll whether it was woken or not.
 */
@Injectable()
export class DueSignal extends Signal {
  constructor(@Inject(DataSource) dataSource: DataSource) {
    super();
    dataSource.subscribers.push(new NudgeAfterCommit(this));
  }

  /** Nudges when the transaction has committed; before that there would be nothing to see. */
  afterCommit(tx: EntityManager): void {
    if (tx.queryRunner) tx.queryRunner.data[DUE] = true;
  }
}

@EventSubscriber()
class NudgeAfterCommit implements EntitySubscriberInterface {
  constructor(private readonly due: DueSignal) {}

  afterTransactionCommit({ queryRunner }: TransactionCommitEvent): void {
    if (!queryRunner.data[DUE]) return;
    queryRunner.data[DUE] = false;
    this.due.nudge();
  }
}
