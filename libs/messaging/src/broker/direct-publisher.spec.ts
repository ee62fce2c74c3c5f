import { eventType } from '@svc/contracts';
import { anEvent } from '@svc/testing';
import { type Broker, type RelayTarget, TypesRefusedError } from './broker.js';
import { DirectPublisher } from './direct-publisher.js';

const AcceptedV1 = eventType<object>('accepted.v1');
const RefusedV1 = eventType<object>('refused.v1');

test('an event that the broker refuses does not stop the other events of a direct publication', async () => {
  const delivered: string[][] = [];
  const target: RelayTarget = {
    name: 'target',
    deliver: (events) => {
      const types = events.map(({ type }) => type);
      if (types.includes(RefusedV1.name)) return Promise.reject(new TypesRefusedError(new Set([RefusedV1.name])));
      delivered.push(types);
      return Promise.resolve();
    },
  };
  const log = { info: jest.fn(), warn: jest.fn(), error: jest.fn() };
  const publisher = new DirectPublisher({ targets: () => [target] } as unknown as Broker, log);
  publisher.publish([anEvent(RefusedV1, 'a', 1, {}), anEvent(AcceptedV1, 'a', 1, {}), anEvent(RefusedV1, 'b', 1, {})]);
  publisher.publish([anEvent(RefusedV1, 'c', 1, {})]);
  await publisher.publishOnce([anEvent(AcceptedV1, 'b', 1, {})]);
  await publisher.close();
  expect(delivered).toEqual([[AcceptedV1.name], [AcceptedV1.name]]);
  expect(log.warn).not.toHaveBeenCalled();
});
