import { FindPayableV1, PayableClosedV1, type PayableSnapshot } from '@svc/contracts';
import { inTransaction } from '@svc/persistence';
import { waitUntil } from '@svc/testing';
import { DEADLINE_MS } from '../harness/effects.js';
import type { ConsumingProcess, MessagingHarness, Producer } from '../harness/harness.js';

const closedPayable: PayableSnapshot = { payableId: 'a', state: 'closed', version: 2, paymentCount: 0 };

/**
 * Guarantees of the validation: a message that violates the schema of its type is not passed to a handler and is not
 * lost (ADR 62).
 */
export function validationContract(harness: () => MessagingHarness): void {
  test('an invalid event becomes a dead letter with the field and the rule in its error, and valid events of its batch are handled', async () => {
    const handled: unknown[] = [];
    const consumer = await harness().startConsumer('history', {
      events: {
        [PayableClosedV1.name]: (events) => Promise.resolve(void handled.push(...events.map(({ payload }) => payload))),
      },
    });
    const producer = await harness().startProducer('processor');
    const eventOfNewerRelease = { ...closedPayable, payableId: 'c', addedByANewerRelease: true };
    await publish(
      producer,
      closedPayable,
      { ...closedPayable, payableId: 'b', paymentCount: 'none' },
      eventOfNewerRelease,
    );
    await producer.relay.start();

    const deadLetter = await firstDeadLetter(consumer);
    expect(deadLetter).toMatchObject({ type: PayableClosedV1.name, aggregateId: 'b', deliveries: 1 });
    expect(deadLetter.error).toMatch(
      /^InvalidMessageError: message\.invalid: event payable\.closed\.v1, \/paymentCount must be number \(#.*\/paymentCount\/type\)$/,
    );
    await waitUntil('the valid events', DEADLINE_MS, () => Promise.resolve(handled.length === 2));
    expect(handled).toEqual([closedPayable, eventOfNewerRelease]);

    await expect(consumer.deadLetters.replay(deadLetter.messageId)).rejects.toMatchObject({
      code: 'resource.conflict',
    });
    expect((await consumer.deadLetters.list()).deadLetters).toEqual([deadLetter]);
    expect(handled).toHaveLength(2);
  });

  test('an invalid request is rejected with the invalid field, and its handler is not called', async () => {
    let calls = 0;
    await harness().startConsumer('processor', {
      commands: { [FindPayableV1.name]: () => Promise.resolve(++calls && { payable: closedPayable }) },
    });
    const { commands } = await harness().startProducer('requester');
    await expect(commands.request(FindPayableV1, { payableId: 'a' })).resolves.toEqual({ payable: closedPayable });
    await expect(commands.request(FindPayableV1, { payableId: 1 as unknown as string })).rejects.toMatchObject({
      code: 'request.invalid',
      fields: [{ field: 'payableId', message: 'must be string' }],
    });
    expect(calls).toBe(1);
    expect(harness().logLines).toContainEqual({ level: 'error', message: 'command refused: its request is invalid' });
  });

  test('a request with an invalid reply fails with service.not-ready, as if the reply were lost', async () => {
    await harness().startConsumer('processor', {
      commands: { [FindPayableV1.name]: () => Promise.resolve({ payable: { ...closedPayable, state: 'gone' } }) },
    });
    const { commands } = await harness().startProducer('requester');
    const error: unknown = await commands.request(FindPayableV1, { payableId: 'a' }).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: 'service.not-ready', cause: { path: '/payable/state' } });
  });
}

async function publish({ dataSource, events }: Producer, ...payloads: object[]): Promise<void> {
  const newEvents = payloads.map((payload) => {
    const { payableId: aggregateId } = payload as PayableSnapshot;
    return { type: PayableClosedV1, aggregateId, aggregateVersion: 1, payload: payload as PayableSnapshot };
  });
  await inTransaction(dataSource, (tx) => events.append(tx, ...newEvents));
}

async function firstDeadLetter({ deadLetters }: ConsumingProcess) {
  return waitUntil('the dead letter', DEADLINE_MS, async () => (await deadLetters.list()).deadLetters[0]);
}
