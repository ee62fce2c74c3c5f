import { randomUUID } from 'node:crypto';
import type { RabbitMqConnection } from '../rabbitmq-connection.js';
import { Topology } from '../rabbitmq-topology.js';
import type { Link } from './pending-request.js';
import { ReplicaMonitor } from './replica-monitor.js';

const COMMAND = 'charge.v1';

let monitor: ReplicaMonitor;
/** Correlation id of the newest ping. */
let pingId: string;

beforeEach(() => {
  monitor = new ReplicaMonitor({} as RabbitMqConnection, new Topology(), new Map());
});

const link = {
  channel: {
    publish: (_exchange: string, _key: string, _content: Buffer, { correlationId }: { correlationId: string }) =>
      (pingId = correlationId),
  },
  replyTo: 'replies',
} as unknown as Link;

function answerPing(replica: string, correlationId = pingId): void {
  monitor.onPong({ replica, isClosing: false, unknown: [] }, correlationId);
}

/** Searches for a replica. Returns undefined if the responses to the ping contain none. */
async function search(answer: () => void): Promise<string | undefined> {
  const chosen = monitor.choose(link, COMMAND);
  answer();
  monitor.onNoReplica(COMMAND);
  return (await chosen)?.id;
}

test('a replica that responds to a ping is chosen', async () => {
  const id = randomUUID();
  expect(await search(() => answerPing(id))).toBe(id);
});

test.each([COMMAND, `${COMMAND} ${randomUUID()}`])(
  'a response without the correlation id of the ping (%s) is ignored, because it may be from another service',
  async (forged) => {
    expect(await search(() => answerPing(randomUUID(), forged))).toBeUndefined();
  },
);

test('the correlation id of a ping is useless for the replicas of another command', async () => {
  const other = monitor.choose(link, 'list-deliveries.v1');
  const pingIdOfOther = pingId;
  expect(await search(() => answerPing(randomUUID(), pingIdOfOther))).toBeUndefined();
  monitor.onNoReplica('list-deliveries.v1');
  await other;
});

// The broker would refuse a request with this routing key and close the connection, or send it to all replicas.
test.each(['all', 'x', '', undefined as never])('the id %j is not chosen', async (id) => {
  expect(await search(() => answerPing(id))).toBeUndefined();
});

test('a new replica replaces a silent one when 500 are known, but no replica that responds', async () => {
  for (let count = 0; count < 500; count++) await search(() => answerPing(randomUUID()));
  const ignored = randomUUID();
  await search(() => answerPing(ignored));
  const choices = async (): Promise<Set<string | undefined>> => {
    const chosen = new Set<string | undefined>();
    for (let count = 0; count < 600; count++) chosen.add((await monitor.choose(link, COMMAND))?.id);
    return chosen;
  };
  expect(await choices()).not.toContain(ignored);
  monitor.markAllSilent();
  const id = randomUUID();
  await search(() => answerPing(id));
  expect(await choices()).toEqual(new Set([id]));
});
