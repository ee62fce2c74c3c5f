import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ensurePrometheus } from '../../tools/svc/install/prometheus.ts';
import { PROMETHEUS_FOLDER } from './generate.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');
let promtool: string;
let logs: string;

beforeAll(async () => {
  logs = await mkdtemp(join(tmpdir(), 'prometheus-'));
  ({ promtool } = await ensurePrometheus(ROOT, join(logs, 'apt.log')));
});
afterAll(() => rm(logs, { recursive: true }));

test.each(['alarms', 'slos'])(
  'Prometheus accepts the rules of the %s, and each alert fires only with its series',
  async (name) => {
    const cwd = join(ROOT, PROMETHEUS_FOLDER);
    const checked = await run(promtool, ['check', 'rules', `${name}.rules.yaml`], { cwd });
    expect(checked.stdout).toContain('SUCCESS');
    const tested = await run(promtool, ['test', 'rules', `${name}.tests.yaml`], { cwd });
    expect(tested.stdout).toContain('SUCCESS');
  },
);
