import { Controller } from '@nestjs/common';
import { type CustomerRegistered, CustomerRegisteredV1, type EventEnvelope } from '@svc/contracts';
import { EventPattern, type IdempotentContext, upsertIfNewer } from '@svc/messaging';

/**
 * Stores the names of partners' customers, because tokens do not contain them. Events may be repeated: only a higher
 * version changes a row.
 */
@Controller()
export class CustomersConsumer {
  @EventPattern(CustomerRegisteredV1, { idempotent: true })
  async storeCustomers(events: EventEnvelope<CustomerRegistered>[], { connection }: IdempotentContext): Promise<void> {
    for (const { payload, aggregateVersion } of events) {
      const { organisationId, mode, customerReference, firstName, lastName } = payload;
      await upsertIfNewer(
        connection,
        'known_customers',
        { organisation_id: organisationId, mode, customer_reference: customerReference },
        aggregateVersion,
        { first_name: firstName, last_name: lastName },
      );
    }
  }
}
