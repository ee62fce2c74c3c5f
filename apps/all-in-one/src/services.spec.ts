import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../../..');

function textsOf(pattern: string): string {
  const files = globSync(pattern, { cwd: root, exclude: (name) => /node_modules|dist|\.(int-)?spec\.ts$/.test(name) });
  return files.map((file) => readFileSync(join(root, file), 'utf8')).join('\n');
}

// RabbitMQ cannot route an event without a bound queue: the relay retries it, and all later events wait.
test('every event type that services publish has a subscriber', () => {
  const contracts = textsOf('libs/contracts/src/events/*.ts');
  const services = textsOf('{apps,libs}/*/src/**/*.ts');
  const events = [...contracts.matchAll(/export const (\w+) = eventType</g)].map(([, name]) => name!);
  expect(events.length).toBeGreaterThan(10);
  expect(events.filter((name) => !services.includes(`@EventPattern(${name}`))).toEqual([]);
});
