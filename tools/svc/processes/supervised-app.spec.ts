import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SUPERVISED, readProcesses, stopOrphans, writeProcesses } from './processes.ts';
import { SERVICES } from '../base/settings.ts';
import { pauseAfter } from './supervised-app.ts';

describe('the pause before a process is started again', () => {
  it('doubles with every failure in a row, up to 5 s', () => {
    expect([1, 2, 3, 4, 5, 50].map(pauseAfter)).toEqual([500, 1000, 2000, 4000, 5000, 5000]);
  });
});

describe('the supervised processes', () => {
  it('stop with the front first and the acquirer last', () => {
    expect([...SUPERVISED].reverse()).toEqual(['front', ...[...SERVICES].reverse(), 'simulated-acquirer']);
  });

  it('are not confused with strangers who have their process ids now', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-processes-'));
    const file = join(folder, 'processes.json');
    try {
      const stranger = { pid: process.pid, identity: 'of somebody long gone', port: 1, restarts: 0 };
      writeProcesses(file, { identity: stranger });
      expect(readProcesses(file).identity).toEqual(stranger);
      expect(await stopOrphans(file)).toBe(0); // and this test goes on
      expect(readProcesses(file)).toEqual({});
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
