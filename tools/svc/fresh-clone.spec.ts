/** Tests that ./svc, which installs the packages itself, starts without them. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Loads a file. Rejects each import of a package, as in a fresh clone without node_modules. */
const LOAD_WITHOUT_PACKAGES = `
  import { registerHooks } from 'node:module';
  registerHooks({
    resolve(name, context, next) {
      if (/^(\\.|\\/|node:|file:)/.test(name)) return next(name, context);
      throw new Error(context.parentURL + ' imports the package ' + name);
    },
  });
  await import(process.argv[1]);
`;

/** The files that main.ts imports. */
const commandFiles = [
  ...readFileSync(join(import.meta.dirname, 'main.ts'), 'utf8').matchAll(/import\('(\.\/[^']+)'\)/g),
].map(([, file]) => file!);

function loadWithoutPackages(file: string): string {
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', LOAD_WITHOUT_PACKAGES, join(import.meta.dirname, file)],
    { encoding: 'utf8' },
  );
  return status === 0 ? 'loaded' : stderr;
}

test.each(commandFiles)('%s is loaded in a fresh clone, before packages are installed', (file) => {
  expect(loadWithoutPackages(file)).toBe('loaded');
});

test('a file that imports a package is not loaded before packages are installed', () => {
  expect(commandFiles.length).toBeGreaterThan(5);
  expect(loadWithoutPackages('rabbitmq/amqp-login.ts')).toContain('the package amqplib');
});
