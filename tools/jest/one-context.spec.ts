import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { Client } from 'pg';

/**
 * Runs the script in its own Node.js process, and returns its output. The script can call `file`, which runs a function
 * as a test file in the environment.
 */
function runScript(script: string): unknown {
  const environment = join(import.meta.dirname, 'one-context.ts');
  const prelude = `
    const { default: OneContext } = require(${JSON.stringify(environment)});
    const file = (test) => {
      const environment = new OneContext({ projectConfig: { testEnvironmentOptions: {} } });
      try { return test(environment); } finally { environment.teardown(); }
    };`;
  return JSON.parse(execFileSync(process.execPath, ['-e', prelude + script], { encoding: 'utf8' }));
}

describe('the test environment', () => {
  it('loads third-party modules once, with Node.js itself, in the realm of the test', () => {
    const { _cache: loaded } = process.getBuiltinModule('module') as unknown as { _cache: Record<string, object> };
    expect(Object.keys(loaded).filter((path) => path.includes('/node_modules/pg/'))).not.toEqual([]);
    expect(new Client()).toBeInstanceOf(process.getBuiltinModule('events'));
  });

  it('restores environment variables, the global object and listeners after a test file', () => {
    expect(
      runScript(`
        process.env.KEPT = 'before';
        file(() => {
          process.env.KEPT = 'after';
          process.env.LEFT = 'yes';
          globalThis.left = 1;
          globalThis[Symbol.for('left')] = 1;
          globalThis.setTimeout = () => undefined;
          process.exit = () => undefined;
          process.on('SIGTERM', () => undefined);
        });
        const { KEPT, LEFT } = process.env;
        console.log(JSON.stringify([
          KEPT, LEFT ?? null, 'left' in globalThis, Symbol.for('left') in globalThis,
          typeof setTimeout(() => undefined, 0), String(process.exit).length > 20, process.listenerCount('SIGTERM'),
        ]));`),
    ).toEqual(['before', null, false, false, 'object', true, 0]);
  });

  it('lets Jest load its own modules unchanged while no test file runs', () => {
    const transform = join(import.meta.dirname, 'third-party.cjs');
    expect(
      runScript(`
        const { process: transformed, getCacheKey } = require(${JSON.stringify(transform)});
        const transform = () => ({ code: transformed('1 + 1', '/a.js').code, key: getCacheKey('1 + 1', '/a.js') });
        const [outside, inTestFile] = [transform(), file(transform)];
        const isUnchanged = ({ code }) => code === '1 + 1';
        console.log(JSON.stringify([isUnchanged(outside), isUnchanged(inTestFile), outside.key === inTestFile.key]));`),
    ).toEqual([true, false, false]);
  });
});
