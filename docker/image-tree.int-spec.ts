/**
 * Runs the commands of the Dockerfile without Docker. Then starts each app from its resulting folder, with the entry
 * point of the image and a real PostgreSQL. Does not test the base image and the layers.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findFreePort, newTestDatabase, type TestDatabase, waitUntil } from '@svc/testing';
import { DEPLOYED_APPS } from '../deploy/apps.ts';
import { createPlausibleEnvironment } from '../deploy/checks/plausible-environment.ts';
import {
  readDockerfile,
  readEntryPoint,
  readHealthCheck,
  readImageEnvironment,
  readRunCommands,
} from './dockerfile.ts';

const root = join(import.meta.dirname, '..');
const dockerfile = readDockerfile(join(root, 'docker/Dockerfile'));
const STAGES = ['manifests', 'compiled', 'tree'];
/** This app runs in a store, and is not deployed with the other apps. */
const TRANSFORMER = 'pos-transformer';
const IMAGES = [...DEPLOYED_APPS.map(({ name }) => name), TRANSFORMER];

/**
 * Temporary folders: of each app's image, by the app's name; of all installed packages, as `packages`; of a store, as
 * `store`.
 */
const folders = new Map<string, string>();

beforeAll(async () => {
  const [install, packages, build, ...rest] = readRunCommands(dockerfile, 'compiled');
  // `npm ci` has already run in this repository, otherwise this test could not run.
  expect([install, rest]).toEqual(['npm ci', []]);
  const packagesFolder = mkdtempSync(join(tmpdir(), 'svc-packages-'));
  folders.set('packages', packagesFolder);
  await Promise.all([runCommand(build!), runCommand(packages!.replace(/ \/packages$/, ` ${packagesFolder}`))]);
  const commands = readRunCommands(dockerfile, 'tree');
  for (const name of IMAGES) {
    const folder = mkdtempSync(join(tmpdir(), `svc-image-${name}-`));
    folders.set(name, folder);
    for (const command of commands) {
      const output = await runCommand(
        command.replace(' /packages ', ` ${packagesFolder} `).replace(/ \/app$/, ` ${folder}`),
        {
          APP: name,
        },
      );
      expect(output).toMatch(new RegExp(`^${name}: \\d+\\.\\d MB\\n$`));
    }
  }
});

afterAll(() => {
  for (const folder of folders.values()) rmSync(folder, { recursive: true, force: true });
});

test('the packages are installed from the manifests alone, so that a changed source does not install them again', async () => {
  const [copyManifests, ...rest] = readRunCommands(dockerfile, 'manifests');
  expect(rest).toEqual([]);
  const folder = mkdtempSync(join(tmpdir(), 'svc-manifests-'));
  folders.set('manifests', folder);
  await runCommand(copyManifests!.replace(/ \/manifests$/, ` ${folder}`));
  const steps = ['docker/steps/manifests.sh', 'docker/steps/packages.sh'];
  const files = globSync('**/*', { cwd: folder, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
  expect(paths.filter((path) => !/(^|\/)package(-lock)?\.json$/.test(path)).toSorted()).toEqual(steps);
  // npm needs the manifest of each workspace in the lock file.
  const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, object>>;
  };
  const workspaces = Object.keys(packages).filter((path) => path !== '' && !path.includes('node_modules'));
  expect(paths).toEqual(expect.arrayContaining(workspaces.map((path) => `${path}/package.json`)));
  const order = dockerfile.stages
    .find(({ name }) => name === 'compiled')!
    .instructions.map(({ name, text }) => (name === 'COPY' ? text : name));
  expect(order).toEqual(['WORKDIR', '--from=manifests /manifests ./', 'RUN', 'RUN', '. .', 'RUN']);
});

test('the image has labels with its version and commit', () => {
  const { instructions } = dockerfile.stages.at(-1)!;
  expect(instructions.slice(-3)).toEqual([
    { name: 'ARG', text: 'VERSION=0.0.0' },
    { name: 'ARG', text: 'COMMIT=unknown' },
    {
      name: 'LABEL',
      text: 'org.opencontainers.image.title=svc/$APP org.opencontainers.image.version=$VERSION org.opencontainers.image.revision=$COMMIT',
    },
  ]);
});

test.each(IMAGES)('the image of %s contains only files that it needs to run', (name) => {
  const folder = getFolder(name);
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
  const { components } = JSON.parse(readFileSync(join(folder, 'sbom.cdx.json'), 'utf8')) as {
    readonly components: readonly { readonly name: string; readonly group?: string }[];
  };
  const listed = components.map(({ name: title, group }) => (group === undefined ? title : `${group}/${title}`));
  expect(listed).toEqual(expect.arrayContaining(['@nestjs/core', 'fastify', '@opentelemetry/api']));
  for (const needed of ['typescript', 'jest', 'esbuild', 'nx', '@swc/core', '@svc', '@nestjs'])
    expect([needed, existsSync(join(folder, 'node_modules', needed))]).toEqual([needed, false]);
});

describe.each(DEPLOYED_APPS.map((app) => [app.name, app] as const))('the image of %s', (name, app) => {
  let database: TestDatabase;
  let env: Record<string, string>;

  beforeAll(async () => {
    database = await newTestDatabase();
    env = {
      ...readImageEnvironment(dockerfile),
      ...createPlausibleEnvironment(app),
      ...(app.schema === undefined ? {} : { SVC_DATABASE_URL: database.url }),
      ...(name === 'simulated-acquirer' ? { SVC_ACQUIRER_STORE: join(getFolder(name), 'charges.jsonl') } : {}),
      SVC_PORT: String(await findFreePort()),
    };
    // The app runs without a broker, because other tests cover messages between services.
    delete env['SVC_AMQP_URL'];
  });
  afterAll(() => database.drop());

  // Only an app with tables has the task `migrate`.
  for (const task of app.schema === undefined ? [] : ['migrate']) {
    test(`runs the task ${task} with only the database URL`, async () => {
      const first = await runEntryPoint(name, [task], { SVC_DATABASE_URL: database.url });
      expect(first).toMatch(new RegExp(`^${name}: .*Messaging1763500000001`));
    });
  }

  test('responds to health checks, and exits on SIGTERM', async () => {
    const child = startApp(name, env);
    try {
      const url = `http://127.0.0.1:${env['SVC_PORT']}`;
      const outputAfterExit = (): string | undefined => (child.process.exitCode === null ? undefined : child.output());
      await waitUntil(
        'the app to start or to exit',
        30_000,
        async () => outputAfterExit() !== undefined || (await getStatus(`${url}/health/live`)) === 200,
      );
      expect(outputAfterExit()).toBeUndefined();
      // The command of HEALTHCHECK in the Dockerfile.
      const [file, ...args] = readHealthCheck(dockerfile);
      await promisify(execFile)(resolveNode(file), args, { env });

      // hosted-gateway is ready only after an event with the public key for cards has arrived. No event arrives without
      // a broker.
      const [expectedStatus, expectedText] = name === 'hosted-gateway' ? [503, /card/i] : [200, /^/];
      await waitUntil(
        `readiness ${expectedStatus}`,
        15_000,
        async () => (await getStatus(`${url}/health/ready`)) === expectedStatus,
      );
      expect(await (await fetch(`${url}/health/ready`)).text()).toMatch(expectedText);
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
    const port = await findFreePort();
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
  afterEach(() => rmSync(getFolder('store'), { recursive: true, force: true }));

  /** Expects the transformer to serve tills and pages without a connection to the platform, and to exit on SIGTERM. */
  const expectAppToServeTills = async (child: StartedApp): Promise<void> => {
    try {
      const outputAfterExit = (): string | undefined => (child.process.exitCode === null ? undefined : child.output());
      await waitUntil(
        'the transformer to be ready or to exit',
        30_000,
        async () => outputAfterExit() !== undefined || (await getStatus(`${at}/health/ready`)) === 200,
      );
      expect(outputAfterExit()).toBeUndefined();
      const [file, ...args] = readHealthCheck(dockerfile);
      await promisify(execFile)(resolveNode(file), args, { env });
      for (const path of ['/display/5001', '/assets/display.js']) expect(await getStatus(`${at}${path}`)).toBe(200);
      expect(await getStatus(`${at}/till/5001/state`)).toBe(401);
    } finally {
      child.process.kill('SIGTERM');
    }
    expect([await child.ended, child.output()]).toEqual([0, expect.any(String)]);
  };

  test('starts from its image with the configuration file in TRANSFORMER_CONFIG', () =>
    expectAppToServeTills(
      startApp(TRANSFORMER, { ...readImageEnvironment(dockerfile), ...env, TRANSFORMER_CONFIG: configFile }),
    ));

  test('starts with the command of its systemd unit', async () => {
    const unit = readFileSync(join(root, 'docker/pos-transformer.service'), 'utf8');
    expect(unit).toContain(`WorkingDirectory=/opt/pos-transformer/dist/${TRANSFORMER}\n`);
    const [file, ...args] = /^ExecStart=(.+)$/m.exec(unit)![1]!.split(' ');
    expect([file, args.pop()]).toEqual(['/usr/bin/node', '/etc/pos-transformer/transformer.json']);
    await expectAppToServeTills(startApp(TRANSFORMER, env, [...args, configFile]));
  });
});

/** All apps have the same entry point, so one app is enough. */
describe('the entry point', () => {
  test('applies each migration only once when it runs the task migrate twice', async () => {
    const database = await newTestDatabase();
    try {
      const migrate = () => runEntryPoint('demo-shop', ['migrate'], { SVC_DATABASE_URL: database.url });
      await migrate();
      expect((await migrate()).trim()).toBe('demo-shop: up to date');
    } finally {
      await database.drop();
    }
  });

  test('refuses an unknown task', async () => {
    await expect(runEntryPoint('demo-shop', ['migrat'], {})).rejects.toThrow('not "migrat"');
  });
});

test('the image of hosted-gateway contains the scripts and the style of the payment page', () => {
  const assets = join(getFolder('hosted-gateway'), 'apps/hosted-gateway/dist/pay-assets');
  const manifest = JSON.parse(readFileSync(join(assets, 'manifest.json'), 'utf8')) as {
    readonly scripts: Readonly<Record<string, { readonly content: string }>>;
    readonly style: { readonly content: string };
  };
  // One style, and a script for each of the five languages.
  const contents = [...Object.values(manifest.scripts), manifest.style].map(({ content }) => content);
  expect(new Set(contents.filter((content) => content !== '')).size).toBe(6);
});

async function runCommand(command: string, env: Record<string, string> = {}): Promise<string> {
  const options = { cwd: root, env: { ...process.env, ...env }, maxBuffer: 1e7 };
  return (await promisify(execFile)('sh', ['-c', command], options)).stdout;
}

function getFolder(app: string): string {
  const folder = folders.get(app);
  if (folder === undefined) throw new Error(`${app} was not built`);
  return folder;
}

/** Returns this machine's Node.js instead of the path in the distroless image. */
function resolveNode(file: string | undefined): string {
  expect(file).toBe('/nodejs/bin/node');
  return process.execPath;
}

async function runEntryPoint(app: string, args: readonly string[], env: Record<string, string>): Promise<string> {
  const [file, ...rest] = readEntryPoint(dockerfile);
  const options = { cwd: join(getFolder(app), 'dist', app), env };
  const { stdout } = await promisify(execFile)(resolveNode(file), [...rest, ...args], options);
  return stdout;
}

function imageArguments(): string[] {
  const [file, ...args] = readEntryPoint(dockerfile);
  resolveNode(file);
  return args;
}

interface StartedApp {
  readonly process: ChildProcess;
  readonly ended: Promise<number | null>;
  output(): string;
}

function startApp(app: string, env: Record<string, string>, args = imageArguments()): StartedApp {
  const child = spawn(process.execPath, args, { cwd: join(getFolder(app), 'dist', app), env });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { process: child, ended, output: () => output };
}

async function getStatus(url: string): Promise<number | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2_000) });
    await response.body?.cancel();
    return response.status;
  } catch {
    return undefined;
  }
}

test('this file tests all named stages of the Dockerfile', () =>
  expect(dockerfile.stages.map(({ name }) => name).filter((name) => name !== undefined)).toEqual(STAGES));
