import { Controller, Inject } from '@nestjs/common';
import {
  ClosePayableV1,
  type EventEnvelope,
  FindPayableV1,
  type HostedPayableDescriptor,
  type InvoiceCreated,
  InvoiceCreatedV1,
  type OpenedPayable,
  type OpenPayable as OpenPayableCommand,
  OpenPayableV1,
  type PayableDescriptor,
  type PayableSnapshot,
  SessionCreatedV1,
  SessionExtendedV1,
} from '@svc/contracts';
import { invalidField, isUuid } from '@svc/kernel';
import { EventPattern, type IdempotentContext, MessagePattern } from '@svc/messaging';
import { ClosePayable } from './close-payable.js';
import { OpenPayable } from './open-payable.js';
import { PayableRepository } from './payable.repository.js';

@Controller()
export class PayablesConsumer {
  constructor(
    @Inject(PayableRepository) private readonly payables: PayableRepository,
    @Inject(ClosePayable) private readonly closePayable: ClosePayable,
    @Inject(OpenPayable) private readonly openPayable: OpenPayable,
  ) {}

  /** Events may be repeated: an existing payable does not change. */
  @EventPattern(SessionCreatedV1, { idempotent: true })
  async storeSessions(
    events: EventEnvelope<{ payable: HostedPayableDescriptor }>[],
    { connection }: IdempotentContext,
  ): Promise<void> {
    await this.payables.insertIfAbsent(
      connection,
      events.map((event) => event.payload.payable),
    );
  }

  /** Events may be repeated: an expiry is never shortened. */
  @EventPattern(SessionExtendedV1, { idempotent: true })
  async extendSessions(
    events: EventEnvelope<{ payable: HostedPayableDescriptor }>[],
    { connection }: IdempotentContext,
  ): Promise<void> {
    const payables = events.map((event) => event.payload.payable);
    await this.payables.extendExpiry(connection, payables);
  }

  /**
   * The command `open-payable` has already inserted the payable, unless this service's tables were restored from an
   * older backup. Events may be repeated: an existing payable does not change.
   */
  @EventPattern(InvoiceCreatedV1, { idempotent: true })
  async storeInvoices(events: EventEnvelope<InvoiceCreated>[], { connection }: IdempotentContext): Promise<void> {
    await this.payables.insertIfAbsent(
      connection,
      events.map((event) => event.payload.payable),
    );
  }

  @MessagePattern(ClosePayableV1)
  close({ payable }: { payable: PayableDescriptor }): Promise<PayableSnapshot> {
    return this.closePayable.execute(payable);
  }

  /**
   * Finds a payable by its id, without a check of its owner. The caller is another service, and receives only the
   * state.
   */
  @MessagePattern(FindPayableV1)
  async find({ payableId }: { payableId: string }): Promise<{ payable?: PayableSnapshot }> {
    if (!isUuid(payableId)) throw invalidField('payableId', 'payableId must be a UUID');
    const payable = await this.payables.find(payableId);
    if (!payable) return {};
    const { state, version, paymentCount } = payable;
    return { payable: { payableId, state, version, paymentCount } };
  }

  @MessagePattern(OpenPayableV1)
  open(command: OpenPayableCommand): Promise<OpenedPayable> {
    return this.openPayable.execute(command);
  }
}
