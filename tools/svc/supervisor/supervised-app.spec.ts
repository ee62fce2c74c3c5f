import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readProcesses, stopOrphans, SUPERVISED_APPS, writeProcesses } from '../processes/processes.ts';
import { SERVICES } from '../settings/settings.ts';
import { restartDelayMs } from './supervised-app.ts';

describe('the pause before a process is started again', () => {
  it('doubles with every consecutive failure, up to 5 s', () => {
    expect([1, 2, 3, 4, 5, 50].map(restartDelayMs)).toEqual([500, 1000, 2000, 4000, 5000, 5000]);
  });
});

describe('the supervised processes', () => {
  it('stop in this order: the reverse proxy, the services, the acquirer', () => {
    expect([...SUPERVISED_APPS].reverse()).toEqual(['front', ...[...SERVICES].reverse(), 'simulated-acquirer']);
  });

  it('are ignored by stopOrphans after they have ended, even if later processes have the same ids', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-processes-'));
    const file = join(folder, 'processes.json');
    try {
      const endedProcess = { pid: process.pid, identity: 'of an ended process', port: 1, restarts: 0 };
      writeProcesses(file, { identity: endedProcess });
      expect(readProcesses(file).identity).toEqual(endedProcess);
      expect(await stopOrphans(file)).toBe(0); // Otherwise it would stop the process of this test.
      expect(readProcesses(file)).toEqual({});
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
