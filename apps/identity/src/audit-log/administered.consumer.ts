import { Controller, Inject } from '@nestjs/common';
import { type Administered, ADMINISTERED_TYPES, type EventEnvelope } from '@svc/contracts';
import { type ConsumerContext, EventPattern } from '@svc/messaging';
import { AuditLog } from './audit-log.js';

/** Appends to the audit log what administrators did in other services (A10). */
@Controller()
export class AdministeredConsumer {
  constructor(@Inject(AuditLog) private readonly auditLog: AuditLog) {}

  /** A second delivery is harmless: the inbox has the event's id, in the transaction of the entry. */
  @EventPattern(ADMINISTERED_TYPES)
  async append(events: EventEnvelope<Administered>[], { tx }: ConsumerContext): Promise<void> {
    await this.auditLog.appendFromServices(tx, events);
  }
}
