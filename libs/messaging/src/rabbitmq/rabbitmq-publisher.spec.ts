import type { EventEnvelope } from '@svc/contracts';
import { eventMessages, type EventRoute } from './rabbitmq-publisher.js';

/** The W3C example of a traceparent header. */
const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

const event = (n: number, type = 'noted.v1', text = ''): EventEnvelope => ({
  id: `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`,
  type,
  aggregateId: 'a',
  aggregateVersion: n,
  occurredAt: '2026-03-01T10:00:00.000Z',
  payload: { text },
  traceparent,
});
const routeOf = ({ type }: EventEnvelope): EventRoute => ({ exchange: 'events', routingKey: `${type}.x` });
/** Converts the events to messages, and returns the aggregate versions in each message. */
const versionsByMessage = (events: EventEnvelope[], eventsPerMessage = 50, route = routeOf): number[][] =>
  eventMessages(events, route, eventsPerMessage).map(({ content }) =>
    (JSON.parse(content.toString()) as EventEnvelope[]).map(({ aggregateVersion }) => aggregateVersion),
  );

describe('messages with events', () => {
  it('each contain events of one type and one routing key, in the order of the events', () => {
    const mixed = [event(1), event(2, 'other.v1'), event(3), event(4, 'other.v1'), event(5)];
    expect(versionsByMessage(mixed)).toEqual([
      [1, 3, 5],
      [2, 4],
    ]);
    const byVersion = ({ aggregateVersion }: EventEnvelope) => ({
      exchange: 'events',
      routingKey: `key ${aggregateVersion % 2}`,
    });
    expect(
      versionsByMessage(
        [1, 2, 3, 4].map((n) => event(n)),
        50,
        byVersion,
      ),
    ).toEqual([
      [1, 3],
      [2, 4],
    ]);
  });

  it('each contain at most the configured number of events', () => {
    const five = [1, 2, 3, 4, 5].map((n) => event(n));
    expect(versionsByMessage(five, 2)).toEqual([[1, 2], [3, 4], [5]]);
    expect(versionsByMessage(five, 1)).toEqual([[1], [2], [3], [4], [5]]);
  });

  it('each contain at most 64 KiB, except for a message with a single larger event', () => {
    const small = event(1, 'noted.v1', 'x'.repeat(30_000));
    const large = event(9, 'noted.v1', 'x'.repeat(70_000));
    expect(versionsByMessage([small, small, small, large, small])).toEqual([[1, 1], [1], [9], [1]]);
  });

  it('have the trace of their event if they contain one event', () => {
    const [message] = eventMessages([event(1)], routeOf, 50);
    expect(JSON.parse(message!.content.toString())).toEqual([event(1)]);
    expect(message).toMatchObject({
      exchange: 'events',
      routingKey: 'noted.v1.x',
      properties: {
        messageId: event(1).id,
        type: 'noted.v1',
        headers: { traceparent },
        persistent: true,
      },
    });
  });

  it('have the id of their first event and no trace if they contain several events', () => {
    const [shared, ...more] = eventMessages([event(1), event(2)], routeOf, 50);
    expect(more).toEqual([]);
    expect(shared!.properties).toMatchObject({ messageId: event(1).id, type: 'noted.v1', timestamp: 1772359200 });
    expect(shared!.properties).not.toHaveProperty('headers');
  });
});
