import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** Runs the script in a Node.js process with the cache, and returns its output. */
function runScript(script: string): unknown {
  const cache = join(import.meta.dirname, 'compile-cache.cjs');
  const output = execFileSync(process.execPath, ['--require', cache, '-e', script], { encoding: 'utf8' });
  return JSON.parse(output);
}

const COMPILE = `
  const vm = require('node:vm');
  const compile = (code, filename) => vm.compileFunction(code, ['x'], { filename, parsingContext: vm.createContext() });
`;

describe('the compile cache', () => {
  it('compiles a module from the data of its first compilation', () => {
    expect(
      runScript(`${COMPILE}
        const [first, second] = [compile('return x + 1', 'a.js'), compile('return x + 1', 'a.js')];
        console.log(JSON.stringify([first(1), second(1), first.cachedData !== undefined, second.cachedDataRejected]))`),
    ).toEqual([2, 2, true, false]);
  });

  it('compiles a changed module again', () => {
    expect(
      runScript(`${COMPILE}
        const [first, second] = [compile('return x + 1', 'a.js'), compile('return x + 2', 'a.js')];
        console.log(JSON.stringify([first(1), second(1)]))`),
    ).toEqual([2, 3]);
  });
});
