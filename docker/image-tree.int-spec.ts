/**
 * Runs the steps of the Dockerfile, and starts the apps from the resulting folders alone, with the image's entry point, on
 * a real PostgreSQL. Does not test the base image and the layers, because no Docker runs in tests.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { newTestDatabase, type TestDatabase, waitUntil } from '@svc/testing';
import { DEPLOYED_APPS } from '../deploy/apps.ts';
import { plausibleEnvironment } from '../deploy/checks/plausible-environment.ts';
import { entryPointOf, environmentOf, healthCheckOf, readDockerfile, runLinesOf } from './dockerfile.ts';

const root = join(import.meta.dirname, '..');
const dockerfile = readDockerfile(join(root, 'docker/Dockerfile'));
const STAGES = ['compiled', 'tree'];
/** Runs in a store, and is not deployed with the others. */
const TRANSFORMER = 'pos-transformer';
const IMAGES = [...DEPLOYED_APPS.map(({ name }) => name), TRANSFORMER];

/** The apps' trees, and the packages they were chosen from. */
const folders = new Map<string, string>();

beforeAll(async () => {
  const [install, build, packages, ...rest] = runLinesOf(dockerfile, 'compiled');
  // The first step has run, or this test would not.
  expect([install, rest]).toEqual(['npm ci', []]);
  const shared = mkdtempSync(join(tmpdir(), 'svc-packages-'));
  folders.set('packages', shared);
  await Promise.all([run(build!), run(packages!.replace(/ \/packages$/, ` ${shared}`))]);
  const lines = runLinesOf(dockerfile, 'tree');
  for (const name of IMAGES) {
    const folder = mkdtempSync(join(tmpdir(), `svc-image-${name}-`));
    folders.set(name, folder);
    for (const line of lines) {
      const said = await run(line.replace(' /packages ', ` ${shared} `).replace(/ \/app$/, ` ${folder}`), {
        APP: name,
      });
      expect(said).toMatch(new RegExp(`^${name}: \\d+\\.\\d MB\\n$`));
    }
  }
});

afterAll(() => {
  for (const folder of folders.values()) rmSync(folder, { recursive: true, force: true });
});

test.each(IMAGES)('%s contains only files that it needs to run', (name) => {
  const folder = folderOf(name);
  const files = globSync('**/*', { cwd: folder }).filter((file) => !file.startsWith('node_modules/'));
  expect(globSync('dist/*', { cwd: folder }).sort()).toEqual(
    ['chunks', name, 'telemetry'].sort().map((part) => `dist/${part}`),
  );
  expect(files.filter((file) => /\.tsx?$|\.tsbuildinfo$|(^|\/)(src|test|libs)\//.test(file))).toEqual([]);
  for (const bundled of ['@nestjs/core', 'fastify', 'rxjs'])
    expect([bundled, globSync(`licences/${bundled}/LICENSE*`, { cwd: folder })]).toEqual([
      bundled,
      [expect.anything()],
    ]);
  for (const needed of ['typescript', 'jest', 'esbuild', 'nx', '@swc/core', '@svc', '@nestjs'])
    expect([needed, existsSync(join(folder, 'node_modules', needed))]).toEqual([needed, false]);
});

describe.each(DEPLOYED_APPS.map((app) => [app.name, app] as const))('%s', (name, app) => {
  let database: TestDatabase;
  let env: Record<string, string>;

  beforeAll(async () => {
    database = await newTestDatabase();
    env = {
      ...environmentOf(dockerfile),
      ...plausibleEnvironment(app),
      ...(app.schema === undefined ? {} : { SVC_DATABASE_URL: database.url }),
      ...(name === 'simulated-acquirer' ? { SVC_ACQUIRER_STORE: join(folderOf(name), 'charges.jsonl') } : {}),
      SVC_PORT: String(await freePort()),
    };
    // Alone, without a broker: other tests cover messages between services.
    delete env['SVC_AMQP_URL'];
  });
  afterAll(() => database.drop());

  // An app without tables has no other tasks.
  for (const task of app.schema === undefined ? [] : ['migrate']) {
    test(`runs the task ${task}, which needs only its database`, async () => {
      const first = await entryPoint(name, [task], { SVC_DATABASE_URL: database.url });
      expect(first).toMatch(new RegExp(`^${name}: .*Messaging1763500000001`));
    });
  }

  test('answers its health checks, then ends on SIGTERM', async () => {
    const child = start(name, env);
    try {
      const at = `http://127.0.0.1:${env['SVC_PORT']}`;
      const ended = (): string | undefined => (child.process.exitCode === null ? undefined : child.output());
      await waitUntil(
        'the service',
        30_000,
        async () => ended() !== undefined || (await status(`${at}/health/live`)) === 200,
      );
      expect(ended()).toBeUndefined();
      // The Dockerfile's own HEALTHCHECK.
      const [file, ...args] = healthCheckOf(dockerfile);
      await promisify(execFile)(nodeFor(file), args, { env });

      // hosted-gateway is not ready for payers before it has the public key for their cards, which arrives with an event.
      const [ready, text] = name === 'hosted-gateway' ? [503, /card/i] : [200, /^/];
      await waitUntil(`readiness ${ready}`, 15_000, async () => (await status(`${at}/health/ready`)) === ready);
      expect(await (await fetch(`${at}/health/ready`)).text()).toMatch(text);
    } finally {
      child.process.kill('SIGTERM');
    }
    expect([await child.ended, child.output()]).toEqual([0, expect.any(String)]);
  });
});

describe('pos-transformer in a store', () => {
  let at: string;
  let env: Record<string, string>;
  let configFile: string;

  beforeEach(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-store-'));
    folders.set('store', folder);
    const port = await freePort();
    at = `http://127.0.0.1:${port}`;
    configFile = join(folder, 'transformer.json');
    const config = {
      apiUrl: 'http://127.0.0.1:9',
      merchantId: 1001,
      sites: [{ siteId: 5001, siteReference: 'STORE-1' }],
      listenAddress: '0.0.0.0',
      port,
      database: 'transformer.sqlite',
    };
    writeFileSync(configFile, JSON.stringify(config));
    env = { SVC_PORT: String(port), TRANSFORMER_API_KEY: 'a-key-of-the-store', TRANSFORMER_SITE_KEY_5001: 'key' };
  });
  afterEach(() => rmSync(folderOf('store'), { recursive: true, force: true }));

  /** Serves tills and pages from the tree alone, also without a platform, then ends on SIGTERM. */
  const expectToServe = async (child: StartedApp): Promise<void> => {
    try {
      const ended = (): string | undefined => (child.process.exitCode === null ? undefined : child.output());
      await waitUntil(
        'it to be ready',
        30_000,
        async () => ended() !== undefined || (await status(`${at}/health/ready`)) === 200,
      );
      expect(ended()).toBeUndefined();
      const [file, ...args] = healthCheckOf(dockerfile);
      await promisify(execFile)(nodeFor(file), args, { env });
      for (const path of ['/display/5001', '/assets/display.js']) expect(await status(`${at}${path}`)).toBe(200);
      expect(await status(`${at}/till/5001/state`)).toBe(401);
    } finally {
      child.process.kill('SIGTERM');
    }
    expect([await child.ended, child.output()]).toEqual([0, expect.any(String)]);
  };

  test('starts from its image with the configuration that TRANSFORMER_CONFIG names', () =>
    expectToServe(start(TRANSFORMER, { ...environmentOf(dockerfile), ...env, TRANSFORMER_CONFIG: configFile })));

  test('starts like its systemd unit', async () => {
    const unit = readFileSync(join(root, 'docker/pos-transformer.service'), 'utf8');
    expect(unit).toContain(`WorkingDirectory=/opt/pos-transformer/dist/${TRANSFORMER}\n`);
    const [file, ...args] = /^ExecStart=(.+)$/m.exec(unit)![1]!.split(' ');
    expect([file, args.pop()]).toEqual(['/usr/bin/node', '/etc/pos-transformer/transformer.json']);
    await expectToServe(start(TRANSFORMER, env, [...args, configFile]));
  });
});

/** All apps have the same entry point, so one app is enough. */
describe('the entry point', () => {
  test('migrates once', async () => {
    const database = await newTestDatabase();
    try {
      const migrate = () => entryPoint('demo-shop', ['migrate'], { SVC_DATABASE_URL: database.url });
      await migrate();
      expect((await migrate()).trim()).toBe('demo-shop: up to date');
    } finally {
      await database.drop();
    }
  });

  test('refuses an unknown task', async () => {
    await expect(entryPoint('demo-shop', ['migrat'], {})).rejects.toThrow('not "migrat"');
  });
});

test('the payment page is in hosted-gateway', () => {
  const assets = join(folderOf('hosted-gateway'), 'apps/hosted-gateway/dist/pay-assets');
  const manifest = JSON.parse(readFileSync(join(assets, 'manifest.json'), 'utf8')) as {
    readonly scripts: Readonly<Record<string, { readonly content: string }>>;
    readonly style: { readonly content: string };
  };
  // A script for each language.
  const parts = [...Object.values(manifest.scripts), manifest.style].map(({ content }) => content);
  expect(new Set(parts.filter((content) => content !== '')).size).toBe(6);
});

async function run(line: string, env: Record<string, string> = {}): Promise<string> {
  const options = { cwd: root, env: { ...process.env, ...env }, maxBuffer: 1e7 };
  return (await promisify(execFile)('sh', ['-c', line], options)).stdout;
}

function folderOf(app: string): string {
  const folder = folders.get(app);
  if (folder === undefined) throw new Error(`${app} was not built`);
  return folder;
}

/** Distroless images have Node.js elsewhere. */
function nodeFor(file: string | undefined): string {
  expect(file).toBe('/nodejs/bin/node');
  return process.execPath;
}

async function entryPoint(app: string, args: readonly string[], env: Record<string, string>): Promise<string> {
  const [file, ...rest] = entryPointOf(dockerfile);
  const options = { cwd: join(folderOf(app), 'dist', app), env };
  const { stdout } = await promisify(execFile)(nodeFor(file), [...rest, ...args], options);
  return stdout;
}

function argumentsOfImage(): string[] {
  const [file, ...args] = entryPointOf(dockerfile);
  nodeFor(file);
  return args;
}

interface StartedApp {
  readonly process: ChildProcess;
  readonly ended: Promise<number | null>;
  output(): string;
}

function start(app: string, env: Record<string, string>, args = argumentsOfImage()): StartedApp {
  const child = spawn(process.execPath, args, { cwd: join(folderOf(app), 'dist', app), env });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { process: child, ended, output: () => output };
}

async function status(url: string): Promise<number | undefined> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(2_000) });
    await answer.body?.cancel();
    return answer.status;
  } catch {
    return undefined;
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test('these tests cover all stages of the Dockerfile', () =>
  expect(dockerfile.stages.map(({ name }) => name).filter((name) => name !== undefined)).toEqual(STAGES));
