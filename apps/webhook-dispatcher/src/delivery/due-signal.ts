import { Inject, Injectable } from '@nestjs/common';
import { Signal } from '@svc/messaging';
import {
  DataSource,
  type EntityManager,
  type EntitySubscriberInterface,
  EventSubscriber,
  type TransactionCommitEvent,
} from 'typeorm';

const DUE_KEY = 'svc.webhooks.due';

/**
 * Wakes the worker of this process when a notification becomes due. Without this signal the worker would find the
 * notification at its next poll of the database.
 */
@Injectable()
export class DueSignal extends Signal {
  constructor(@Inject(DataSource) dataSource: DataSource) {
    super();
    dataSource.subscribers.push(new NudgeAfterCommit(this));
  }

  /** Wakes the worker after the commit of `tx`, because before the commit the worker cannot see the rows. */
  afterCommit(tx: EntityManager): void {
    if (tx.queryRunner) tx.queryRunner.data[DUE_KEY] = true;
  }
}

@EventSubscriber()
class NudgeAfterCommit implements EntitySubscriberInterface {
  constructor(private readonly due: DueSignal) {}

  afterTransactionCommit({ queryRunner }: TransactionCommitEvent): void {
    if (!queryRunner.data[DUE_KEY]) return;
    queryRunner.data[DUE_KEY] = false;
    this.due.nudge();
  }
}
