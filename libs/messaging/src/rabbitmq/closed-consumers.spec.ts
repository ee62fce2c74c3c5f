import { EventEmitter } from 'node:events';
import { anEvent } from '@svc/testing';
import type { Channel, ChannelModel, ConsumeMessage } from 'amqplib';
import { EmbeddedBroker } from '../broker/embedded-broker.js';
import { QueueConsumer } from './rabbitmq-consumer.js';
import { Topology } from './rabbitmq-topology.js';
import { RabbitMqResponder } from './requests/rabbitmq-responder.js';

// A consumer that is closed while it attaches again must not consume on the new channel, because its process stops.

const log = { info: jest.fn(), warn: jest.fn(), error: jest.fn() };
const model = {} as ChannelModel;

/** A simulated channel that accepts every call, and the calls that it received. */
function newRecordingChannel() {
  const calls: string[] = [];
  let consume: (message: ConsumeMessage) => void = () => undefined;
  const channel = Object.assign(new EventEmitter(), {
    prefetch: () => Promise.resolve(),
    consume: (_: string, listener: typeof consume) => {
      calls.push('consume');
      consume = listener;
      return Promise.resolve({ consumerTag: 'tag' });
    },
    ack: () => undefined,
    cancel: () => Promise.resolve(void calls.push('cancel')),
    checkQueue: () => Promise.resolve({ messageCount: 0 }),
    close: () => Promise.resolve(void calls.push('close')),
  });
  const deliver = (text: string): void => consume({ content: Buffer.from(text) } as ConsumeMessage);
  return { calls, channel: channel as unknown as Channel, deliver };
}

const newQueueConsumer = ({ isSingleActive = false } = {}) =>
  new QueueConsumer(
    {
      queue: 'queue',
      declare: () => Promise.resolve(),
      parse: (message) => [message],
      handle: () => Promise.resolve(),
      isSingleActive,
    },
    log,
  );

test.each([
  ['a consumer', () => newQueueConsumer()],
  [
    'a responder',
    () =>
      new RabbitMqResponder(
        newTopologyStub(),
        'charge.v1',
        () => Promise.resolve(),
        () => undefined,
        log,
      ),
  ],
])('%s consumes on every new channel until its close() is called', async (_, newAttachment) => {
  const { calls, channel } = newRecordingChannel();
  const attached = newAttachment();
  await attached.attach(channel, model);
  expect(calls).toEqual(['consume']);
  await attached.close();
  expect(calls.splice(0)).toEqual(['consume', 'cancel', 'close']);
  await attached.attach(channel, model);
  expect(calls).toEqual(['close']);
});

test('a consumer that alone reads its queue is closed without a cancellation, so that the next replica begins only after it has finished', async () => {
  const { calls, channel } = newRecordingChannel();
  const consumer = newQueueConsumer({ isSingleActive: true });
  await consumer.attach(channel, model);
  await consumer.close();
  expect(calls).toEqual(['consume', 'close']);
});

test.each([
  ['one of several consumers of a queue handles', false, ['first', 'late']],
  ['a consumer that alone reads its queue leaves to the next replica', true, ['first']],
])('%s a message that arrives while it closes', async (_, isSingleActive, expected) => {
  const { channel, deliver } = newRecordingChannel();
  const handled: string[] = [];
  const [started, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const settings = {
    queue: 'queue',
    declare: () => Promise.resolve(),
    parse: ({ content }: ConsumeMessage) => [content.toString()],
    handle: async (texts: readonly string[]) => {
      handled.push(...texts);
      started.resolve();
      await release.promise;
    },
    isSingleActive,
  };
  const consumer = new QueueConsumer(settings, log);
  await consumer.attach(channel, model);
  deliver('first');
  await started.promise;
  const closing = consumer.close();
  // After this, the cancellation has been sent.
  await new Promise(setImmediate);
  deliver('late');
  release.resolve();
  await closing;
  expect(handled).toEqual(expected);
});

test('a consumer that is closed while it declares its queue cancels its subscription and closes the channel', async () => {
  const { calls, channel } = newRecordingChannel();
  const declared = Promise.withResolvers<void>();
  const settings = {
    queue: 'queue',
    declare: () => declared.promise,
    parse: (message: ConsumeMessage) => [message],
    handle: () => Promise.resolve(),
  };
  const consumer = new QueueConsumer(settings, log);
  const attaching = consumer.attach(channel, model);
  await consumer.close();
  declared.resolve();
  await attaching;
  expect(calls).toEqual(['consume', 'cancel', 'close']);
});

test('a closed subscription of the embedded broker receives no more events, even from a relay that still references its target', async () => {
  const broker = new EmbeddedBroker();
  const deliver = jest.fn(() => Promise.resolve());
  const subscription = await broker.subscribe({ name: 'history', types: new Set(), deliver });
  const [target] = broker.targets();
  const events = [anEvent({ name: 'noted.v1' }, 'a', 1, {})];
  await target!.deliver(events);
  await subscription.close();
  await expect(target!.deliver(events)).rejects.toThrow('history has stopped.');
  expect(deliver).toHaveBeenCalledTimes(1);
});

function newTopologyStub(): Topology {
  return Object.assign(new Topology(), {
    declareCommand: () => Promise.resolve('queue'),
    bindCommand: () => Promise.resolve(),
    unbindCommand: () => Promise.resolve(),
  });
}
