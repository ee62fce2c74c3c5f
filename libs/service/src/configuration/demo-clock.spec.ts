import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemClock } from '@svc/kernel';
import { DemoClock, newClock } from './demo-clock.js';

const HOUR_MS = 3_600_000;
const NOW_MS = Date.parse('2026-03-08T10:00:00.000Z');

let folder: string;
let file: string;
/** Milliseconds of the process. */
let uptimeMs = 0;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-clock-'));
  file = join(folder, 'clock');
  jest.spyOn(Date, 'now').mockReturnValue(NOW_MS);
  jest.useFakeTimers({ now: NOW_MS, doNotFake: ['performance'] });
  jest.spyOn(performance, 'now').mockImplementation(() => (uptimeMs += 1));
});
afterEach(() => {
  jest.restoreAllMocks();
  jest.useRealTimers();
  rmSync(folder, { recursive: true });
});

test('shows the time that the file chooses, and the system’s time after the file was removed, also if it comes back', () => {
  writeFileSync(file, String(-48 * HOUR_MS));
  const clock = new DemoClock(file);
  expect(clock.nowISO()).toBe('2026-03-06T10:00:00.000Z');
  writeFileSync(file, String(-HOUR_MS));
  expect(clock.nowISO()).toBe('2026-03-08T09:00:00.000Z');
  rmSync(file);
  expect(clock.nowISO()).toBe('2026-03-08T10:00:00.000Z');
  writeFileSync(file, String(-HOUR_MS));
  expect(clock.nowISO()).toBe('2026-03-08T10:00:00.000Z');
});

test('is the system’s clock without a file, and is refused in production', () => {
  expect(newClock({ SVC_ENVIRONMENT: 'production' })).toBeInstanceOf(SystemClock);
  expect(newClock({ SVC_ENVIRONMENT: 'development' })).not.toBeInstanceOf(DemoClock);
  expect(newClock({ SVC_ENVIRONMENT: 'development', SVC_DEMO_CLOCK_FILE: file })).toBeInstanceOf(DemoClock);
  expect(() => newClock({ SVC_ENVIRONMENT: 'production', SVC_DEMO_CLOCK_FILE: file })).toThrow(/development only/);
});
