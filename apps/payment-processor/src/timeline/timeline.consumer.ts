import { Controller, Inject } from '@nestjs/common';
import {
  type FindPayments,
  FindPaymentsV1,
  type TimelineSubject,
  type TracedPayment,
  TracePaymentV1,
} from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { MessagePattern } from '@svc/messaging';
import { DataSource } from 'typeorm';
import { findPayments } from './find-payments.query.js';
import { findPaymentRecords } from './payment-records.query.js';
import { describeRecords } from './payment-steps.js';

/** The part of this service in the timeline of a payment, for operators, whom the console has authenticated. */
@Controller()
export class TimelineConsumer {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  @MessagePattern(FindPaymentsV1)
  async find(request: FindPayments): Promise<{ payments: TimelineSubject[] }> {
    return { payments: await findPayments(this.dataSource, request) };
  }

  @MessagePattern(TracePaymentV1)
  async trace({ paymentReference }: { readonly paymentReference: string }): Promise<TracedPayment> {
    const records = await findPaymentRecords(this.dataSource, paymentReference);
    if (!records) throw new DomainError('resource.not-found');
    const disputeChanges = records.disputeChanges.map(({ changeReference, changedAt }) => ({
      changeReference,
      changedUTCDate: changedAt.toISOString(),
    }));
    return { steps: describeRecords(records), disputeChanges };
  }
}
