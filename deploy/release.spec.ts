/** Runs release.sh with a program in the place of kubectl, which records its calls. */
import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { MIGRATION_DEADLINE_SECONDS } from './migration-job.ts';

const script = join(import.meta.dirname, 'release.sh');
let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'svc-release-'))));
afterEach(() => rmSync(folder, { recursive: true }));

interface Run {
  readonly code: number;
  readonly stderr: string;
  readonly calls: readonly string[];
}

/** @param conditions the output of each query of the Job's conditions; the last one is repeated */
async function release(conditions: readonly string[], rolloutCode = 0): Promise<Run> {
  const kubectl = join(folder, 'kubectl');
  conditions.forEach((text, index) => writeFileSync(join(folder, `conditions-${index}`), text));
  writeFileSync(
    kubectl,
    `#!/bin/sh
    case "$*" in *jsonpath*) ;; *) echo "$*" >> '${folder}/calls' ;; esac
    case "$*" in
      *'@.status=="True"'*)
        count=$(ls '${folder}' | grep -c '^asked-')
        touch "${folder}/asked-$count"
        [ -e "${folder}/conditions-$count" ] || count=${conditions.length - 1}
        cat "${folder}/conditions-$count" ;;
      *'.status.conditions[*]'*) echo 'BackoffLimitExceeded: Job has reached the specified backoff limit' ;;
      *' logs '*) echo 'canceling statement due to lock timeout' ;;
      *rollout*) exit ${rolloutCode} ;;
    esac`,
  );
  chmodSync(kubectl, 0o755);
  const env = { ...process.env, PATH: `${folder}:${process.env['PATH']}`, POLL_SECONDS: '0' };
  const { code, stderr } = await promisify(execFile)('sh', [script, 'overlays/mine'], { env }).then(
    (output) => ({ code: 0, stderr: output.stderr }),
    (error: { code: number; stderr: string }) => error,
  );
  const calls = readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n');
  return { code, stderr, calls };
}

const BEFORE = ['-n svc-payments delete job svc-migrations --ignore-not-found', 'apply -k overlays/mine/migrations'];

test('waits for the migrations, then applies the platform and waits for its rollout', async () => {
  expect(await release(['', '', 'SuccessCriteriaMet\nComplete\n'])).toEqual({
    code: 0,
    stderr: '',
    calls: [
      ...BEFORE,
      'apply -k overlays/mine/platform',
      '-n svc-payments rollout status deployment --selector app.kubernetes.io/part-of=svc-payments --timeout=10m',
    ],
  });
});

test('stops after failed migrations, prints their reason and does not replace a pod', async () => {
  expect(await release(['', 'FailureTarget\nFailed\n'])).toEqual({
    code: 1,
    stderr: [
      '── the last lines of the migrations',
      'canceling statement due to lock timeout',
      'BackoffLimitExceeded: Job has reached the specified backoff limit',
      'The migrations failed, so the rollout was stopped. The old pods are still running.',
      '',
    ].join('\n'),
    calls: [
      ...BEFORE,
      '-n svc-payments logs --selector app.kubernetes.io/name=svc-migrations --all-containers --prefix --tail=20',
    ],
  });
});

test('fails if the rollout does not end', async () => {
  expect(await release(['Complete\n'], 1)).toMatchObject({ code: 1 });
});

test('waits longer than the deadline of the Job', () => {
  const seconds = Number(/^timeout_seconds=(\d+)$/m.exec(readFileSync(script, 'utf8'))?.[1]);
  expect(seconds).toBeGreaterThan(MIGRATION_DEADLINE_SECONDS + 60);
});
