import { FindPayableV1, PayableClosedV1, type PayableSnapshot } from '@svc/contracts';
import { inTransaction } from '@svc/persistence';
import { waitUntil } from '@svc/testing';
import { DEADLINE_MS } from '../harness/effects.js';
import type { ConsumingProcess, MessagingHarness, Producer } from '../harness/harness.js';

const closed: PayableSnapshot = { payableId: 'a', state: 'closed', version: 2, tries: 0 };

/** A message that violates the schema of its type reaches no handler, and is not lost (ADR 62). */
export function validationContract(harness: () => MessagingHarness): void {
  test('an invalid event is a dead letter that names the field and the rule; the valid ones beside it are handled', async () => {
    const handled: unknown[] = [];
    const consumer = await harness().consumer('history', {
      events: {
        [PayableClosedV1.name]: (events) => Promise.resolve(void handled.push(...events.map(({ payload }) => payload))),
      },
    });
    const producer = await harness().producer('processor');
    const newer = { ...closed, payableId: 'c', addedByANewerRelease: true };
    await publish(producer, closed, { ...closed, payableId: 'b', tries: 'none' }, newer);
    await producer.relay.start();

    const letter = await firstDeadLetter(consumer);
    expect(letter).toMatchObject({ type: PayableClosedV1.name, aggregateId: 'b', deliveries: 1 });
    expect(letter.error).toMatch(
      /^InvalidMessageError: message\.invalid: event payable\.closed\.v1, \/tries must be number \(#.*\/tries\/type\)$/,
    );
    await waitUntil('the valid events', DEADLINE_MS, () => Promise.resolve(handled.length === 2));
    expect(handled).toEqual([closed, newer]);

    await expect(consumer.deadLetters.replay(letter.messageId)).rejects.toMatchObject({ code: 'resource.conflict' });
    expect((await consumer.deadLetters.list()).deadLetters).toEqual([letter]);
    expect(handled).toHaveLength(2);
  });

  test('an invalid command is refused with its field before the handler is called', async () => {
    let calls = 0;
    await harness().consumer('processor', {
      commands: { [FindPayableV1.name]: () => Promise.resolve(++calls && { payable: closed }) },
    });
    const { commands } = await harness().producer('asker');
    await expect(commands.request(FindPayableV1, { payableId: 'a' })).resolves.toEqual({ payable: closed });
    await expect(commands.request(FindPayableV1, { payableId: 1 as unknown as string })).rejects.toMatchObject({
      code: 'request.invalid',
      fields: [{ field: 'payableId', message: 'must be string' }],
    });
    expect(calls).toBe(1);
    expect(harness().logged).toContainEqual({ level: 'error', message: 'command refused: its request is invalid' });
  });

  test('an invalid reply is as a lost one', async () => {
    await harness().consumer('processor', {
      commands: { [FindPayableV1.name]: () => Promise.resolve({ payable: { ...closed, state: 'gone' } }) },
    });
    const { commands } = await harness().producer('asker');
    const error: unknown = await commands.request(FindPayableV1, { payableId: 'a' }).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: 'service.not-ready', cause: { path: '/payable/state' } });
  });
}

async function publish({ dataSource, events }: Producer, ...payloads: object[]): Promise<void> {
  const said = payloads.map((payload) => {
    const { payableId: aggregateId } = payload as PayableSnapshot;
    return { type: PayableClosedV1, aggregateId, aggregateVersion: 1, payload: payload as PayableSnapshot };
  });
  await inTransaction(dataSource, (tx) => events.append(tx, ...said));
}

async function firstDeadLetter({ deadLetters }: ConsumingProcess) {
  return waitUntil('the dead letter', DEADLINE_MS, async () => (await deadLetters.list()).deadLetters[0]);
}
