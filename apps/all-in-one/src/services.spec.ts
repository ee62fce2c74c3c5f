import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../../..');

function readFiles(pattern: string): string {
  const files = globSync(pattern, { cwd: root, exclude: (name) => /node_modules|dist|\.(int-)?spec\.ts$/.test(name) });
  return files.map((file) => readFileSync(join(root, file), 'utf8')).join('\n');
}

// The relay logs and skips an event that has no subscriber, so an event type without one is probably a mistake.
test('every event type that services publish has a subscriber', () => {
  const contracts = readFiles('libs/contracts/src/events/*.ts');
  const services = readFiles('{apps,libs}/*/src/**/*.ts');
  const events = [...contracts.matchAll(/export const (\w+) = eventType</g)].map(([, name]) => name!);
  expect(events.length).toBeGreaterThan(10);
  // The audit log has one handler for the types of all services.
  const [, handledTogether = ''] = /ADMINISTERED_TYPES[^=]*= \[([^\]]*)\]/.exec(contracts) ?? [];
  expect(services).toContain('@EventPattern(ADMINISTERED_TYPES)');
  const hasSubscriber = (name: string): boolean =>
    services.includes(`@EventPattern(${name}`) || handledTogether.includes(name);
  expect(events.filter((name) => !hasSubscriber(name))).toEqual([]);
});
