import { newDataSource } from '@svc/persistence';
import { anEvent, ManualClock, newMessagingDatabase } from '@svc/testing';
import { NotedV1 } from '../../test/harness/effects.js';
import { HEARTBEAT_TIMEOUT_MS, HeartbeatMonitor, storeHeartbeats } from '../index.js';

test('missing heartbeats are logged once, but not in the first 30 s after the start, and their return is logged too', async () => {
  const database = await newMessagingDatabase();
  const dataSource = newDataSource({ url: database.url, applicationName: 'test' });
  await dataSource.initialize();
  const clock = new ManualClock();
  const storeHeartbeat = (sentAt: Date): Promise<void> =>
    storeHeartbeats(dataSource.manager, 'identity', [
      { ...anEvent(NotedV1, 'a', 1, { text: 'a' }), occurredAt: sentAt.toISOString() },
    ]);
  const logMessages: string[] = [];
  const log = {
    info: (_: object, message: string) => void logMessages.push(message),
    warn: () => undefined,
    error: (_: object, message: string) => void logMessages.push(message),
  };

  const outdated = clock.later(-HEARTBEAT_TIMEOUT_MS);
  await storeHeartbeat(outdated);
  const monitor = new HeartbeatMonitor('identity', dataSource, clock, log);
  clock.advance(HEARTBEAT_TIMEOUT_MS);
  await monitor.runStep();
  expect(logMessages).toEqual([]);
  clock.advance(1);
  for (let times = 0; times < 2; times++) await monitor.runStep();
  expect(logMessages.splice(0)).toEqual([expect.stringContaining('no heartbeat')]);
  await storeHeartbeat(clock.now());
  await storeHeartbeat(outdated);
  await monitor.runStep();
  expect(logMessages).toEqual(['heartbeats arrive again']);
  await dataSource.destroy();
  await database.drop();
});
