import { Controller } from '@nestjs/common';
import { type CustomerRegistered, CustomerRegisteredV1, type EventEnvelope } from '@svc/contracts';
import { EventPattern, type RepeatableContext, upsertIfNewer } from '@svc/messaging';

/** Stores the names of partners' customers, which are not in their tokens. Replay: the highest version of each row stays. */
@Controller()
export class CustomersConsumer {
  @EventPattern(CustomerRegisteredV1, { repeatable: true })
  async keep(events: EventEnvelope<CustomerRegistered>[], { connection }: RepeatableContext): Promise<void> {
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
